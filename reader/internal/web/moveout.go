package web

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"mangrove/reader/internal/account"
	"mangrove/reader/internal/backup"
)

// moveOut saves what a person follows and has read as one file.
func (s *Server) moveOut(w http.ResponseWriter, r *http.Request) error {
	people, err := s.Moving.Out(r.Context(), who(r).ID, who(r).Name)
	if err != nil {
		return err
	}
	return save(w, people, who(r).Name)
}

// moveAllOut saves it of everybody.
func (s *Server) moveAllOut(w http.ResponseWriter, r *http.Request) error {
	people, err := s.Moving.AllOut(r.Context())
	if err != nil {
		return err
	}
	return save(w, people, "everybody")
}

func save(w http.ResponseWriter, people []backup.Person, name string) error {
	now := time.Now()
	// The whole file before its first byte: one that ends early is worse than none.
	var out bytes.Buffer
	if err := backup.Write(&out, people, now); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="mangrove-`+plainName(name)+now.Format("-2006-01-02")+`.json"`)
	_, _ = w.Write(out.Bytes())
	return nil
}

// plainName keeps what every system takes in a file's name.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name)
}

// mayKeep reports whether a person keeps the people of this library.
func mayKeep(r *http.Request) bool { return who(r).Role == account.Administrator }
