package inventory

import (
	"testing"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// Over a network, changes that others make are not heard of.
func TestWhatDoesNotTell(t *testing.T) {
	t.Parallel()
	for _, kind := range []int64{unix.NFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC} {
		if silent(kind) == nil {
			t.Errorf("%#x is watched", kind)
		}
	}
	for _, kind := range []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC} {
		if err := silent(kind); err != nil {
			t.Errorf("%#x is not watched: %v", kind, err)
		}
	}
}

func TestWhoseFolderAnEventIsOf(t *testing.T) {
	t.Parallel()
	w := &Watcher{root: "/l"}
	for name, want := range map[string]struct {
		dir  string
		ours bool
	}{
		"/l/Pepper/1.cbz": {"Pepper", true}, "/l/loose.cbz": {"", true}, "/l/Pepper": {"", true}, "/l/a/b/c.cbz": {"a/b", true},
		"/l/.mangrove": {"", false}, "/l/.mangrove-library": {"", false}, "/l/Pepper/.chapter.part": {"", false}, "/other/x": {"", false},
	} {
		dir, ours := w.folder(fsnotify.Event{Name: name, Op: fsnotify.Create})
		if dir != want.dir || ours != want.ours {
			t.Errorf("%s: %q, %v; want %q, %v", name, dir, ours, want.dir, want.ours)
		}
	}
}
