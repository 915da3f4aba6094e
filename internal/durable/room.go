package durable

import (
	"golang.org/x/sys/unix"
)

// Room returns how many bytes an ordinary program may still write on the file
// system that path lies on.
func Room(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, Classify("look at the room on", path, err)
	}
	return int64(st.Bavail) * st.Frsize, nil
}
