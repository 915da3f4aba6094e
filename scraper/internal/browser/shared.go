package browser

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Chromium's processes hand each other pictures in shared memory. It is told not to
// use /dev/shm for it, which containers make 64 MiB small, and uses the folder of its
// profile; some of its parts use /dev/shm all the same. Below these bounds pages with
// much to draw may take it down (S-082).
const (
	sharedMemory = "/dev/shm"
	leastShared  = 64 << 20
	leastFree    = 256 << 20
)

// room is how large a file system is and how much of it is free, in bytes.
func room(path string) (size, free uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, 0, err
	}
	return s.Blocks * uint64(s.Bsize), s.Bavail * uint64(s.Bsize), nil
}

// shortage says what of shared memory is too small and what to do about it; "" when
// nothing is. shared and dir are /dev/shm and the folder of profiles.
func shortage(shared, dir string, room func(string) (size, free uint64, err error)) string {
	size, _, err := room(shared)
	const more = "; give the machine more (for a container --shm-size=256m, or shm_size: 256m in its compose file)"
	switch {
	case err != nil:
		return fmt.Sprintf("there is no %s, in which a browser shares memory%s", shared, more)
	case size <= leastShared:
		return fmt.Sprintf("%s, in which a browser shares memory, holds only %d MiB%s", shared, size>>20, more)
	}
	if _, free, err := room(dir); err == nil && free < leastFree {
		return fmt.Sprintf("%s, where the browser's profile lies, has only %d MiB left; free some", dir, free>>20)
	}
	return ""
}

// lostBecause is why a page's read ends when Chromium or its page does, with what
// may be to blame.
func (c *chromium) lostBecause(err error) error {
	if c.short == "" {
		return err
	}
	return fmt.Errorf("%w, perhaps because %s", err, c.short)
}

// errCrashed is why a read ends when the process that shows the page does.
var errCrashed = errors.New("the page crashed")
