package pgcluster

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
)

// Owner is the user the server runs as. PostgreSQL refuses to run as root.
type Owner struct {
	// Name is as the password database has it: the server looks itself up.
	Name     string
	UID, GID uint32
}

// ErrNoUser means that the server would run as a user without a name.
var ErrNoUser = errors.New("no entry in the password database")

// ChooseOwner returns who the server runs as when we are euid: that user, or,
// for root, "postgres" and failing that "nobody". The user is looked up by
// name, for its number differs from machine to machine.
func ChooseOwner(euid int) (Owner, error) {
	if euid != 0 {
		u, err := user.LookupId(strconv.Itoa(euid))
		if err != nil {
			return Owner{}, fmt.Errorf("user %d: %w", euid, ErrNoUser)
		}
		return owner(u)
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return owner(u)
		}
	}
	return Owner{}, fmt.Errorf("neither postgres nor nobody: %w", ErrNoUser)
}

func owner(u *user.User) (Owner, error) {
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return Owner{}, fmt.Errorf("user %s has the number %q: %w", u.Username, u.Uid, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return Owner{}, fmt.Errorf("user %s has the group %q: %w", u.Username, u.Gid, err)
	}
	return Owner{u.Username, uint32(uid), uint32(gid)}, nil
}
