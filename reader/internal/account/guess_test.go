package account

import (
	"errors"
	"testing"
)

func TestPasswordsThatFollowARule(t *testing.T) {
	t.Parallel()
	for password, want := range map[string]error{
		"password": ErrCommon, "PASSWORD": ErrCommon, "ada lovelace": ErrCommon,
		"aaaaaaaaaaaa": ErrGuessable, "aaaabbbbcccc": ErrGuessable, "bcdefghi": ErrGuessable, "hgfedcba": ErrGuessable, "fghijklmno": ErrGuessable,
		"poiuytrew": ErrGuessable, "asdfghjklö": ErrGuessable, "abcd4321": ErrGuessable, "qwertz987": ErrGuessable,
		"xk3xk3xk3xk": ErrGuessable, "horsehorse": ErrGuessable, "19840312": ErrGuessable, "01.01.1999": nil, "84039582714": ErrGuessable, "840395827146": nil,
		"mangrove2026": ErrGuessable, "Mangrove!!": ErrGuessable, "M4ngr0ve": ErrGuessable, "manga-manga-1": ErrGuessable, "P@ssw0rd!!": ErrGuessable, "mypassword1": ErrGuessable,
		"ada12345678": ErrGuessable, "Lovelace1815": ErrGuessable, "adalovelace!": ErrGuessable, "admin2026!": ErrGuessable,
		"a good sentence": nil, "correct horse battery": nil, "hijacked by otters": nil, "mangroves grow slowly": nil, "ada likes otters": nil,
		"пароль для манги": nil, "tr0ub4dor&3": nil,
	} {
		if err := CheckPassword(password, "ada lovelace"); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", password, err, want)
		}
	}
}

func FuzzCheckPassword(f *testing.F) {
	f.Add("a good sentence", "mo")
	f.Add("\xff\xfe12345678", "\xff")
	f.Fuzz(func(t *testing.T, password, name string) {
		if err := CheckPassword(password, name); err == nil && (len(password) < MinPassword || len(password) > MaxPassword) {
			t.Errorf("%q is taken", password)
		}
	})
}
