package preflight

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/internal/pgcluster"
)

// Folders makes the data folder with its private subfolders and the library,
// and makes sure that both can be written. What belongs to somebody else ends
// in the command that hands it over.
func Folders(c config.Config, euid int) error {
	private := fs.FileMode(0o700)
	if euid == 0 {
		// The database's user has to pass through to its own folder.
		private = 0o711
	}
	if err := usable(config.Data, c.DataDir, private, euid); err != nil {
		return err
	}
	if err := ours(c, euid); err != nil {
		return err
	}
	if info, err := os.Stat(c.DataDir); err == nil && euid == 0 && ownerOf(info) == 0 && info.Mode().Perm()&0o011 != 0o011 {
		if err := os.Chmod(c.DataDir, info.Mode().Perm()|0o011); err != nil {
			return wrong(config.Data, "%s: %s", c.DataDir, durable.Reason(err))
		}
	}
	for _, dir := range []string{c.RunDir(), c.SecretsDir(), c.LogDir()} {
		err := os.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			err = os.Chmod(dir, 0o700)
		}
		if err != nil {
			return wrong(config.Data, "%s cannot be made: %s", dir, durable.Reason(err))
		}
	}
	return usable(config.Library, c.LibraryDir, 0o755, euid)
}

// usable makes dir if it is missing and tries to write into it.
func usable(setting, dir string, perm fs.FileMode, euid int) error {
	if err := makeAll(dir, perm, euid); err != nil {
		var path *fs.PathError
		if errors.As(err, &path); path != nil && errors.Is(err, syscall.ENOTDIR) {
			return wrong(setting, "%s cannot be made: %s is not a folder", dir, path.Path)
		}
		if errors.Is(err, fs.ErrPermission) && path != nil && path.Op == "stat" {
			return wrong(setting, "%s cannot be reached by %s: a folder above it is closed", dir, me(euid))
		}
		if errors.Is(err, fs.ErrPermission) {
			return wrong(setting, "%s cannot be made: permission denied; run: sudo mkdir -p %s && sudo chown %s %s", dir, dir, me(euid), dir)
		}
		return wrong(setting, "%s cannot be made: %s", dir, durable.Reason(err))
	}
	f, err := os.CreateTemp(dir, ".write-test-*")
	if err == nil {
		_, err = f.WriteString("x")
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	if err == nil {
		return nil
	}
	info, serr := os.Stat(dir)
	if errors.Is(err, fs.ErrPermission) && euid != 0 {
		if serr != nil {
			return wrong(setting, "%s cannot be reached: permission denied for %s", dir, me(euid))
		}
		if owner := ownerOf(info); owner != euid {
			return wrong(setting, "%s belongs to %s; run: sudo chown -R %s %s", dir, pgcluster.UserName(uint32(owner)), me(euid), dir)
		}
		return wrong(setting, "%s is closed to its own owner; run: chmod u+rwx %s", dir, dir)
	}
	return wrong(setting, "%s cannot be written: %s", dir, durable.Reason(err))
}

// makeAll makes dir and what is missing above it. Modes are set whatever the
// umask says: a parent that nobody may pass would hide the database from its user.
func makeAll(dir string, perm fs.FileMode, euid int) error {
	info, err := os.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		return nil
	}
	if errors.Is(err, fs.ErrPermission) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	above := fs.FileMode(0o755)
	if euid == 0 {
		above = 0o711
	}
	if err := makeAll(filepath.Dir(dir), above, euid); err != nil {
		return err
	}
	if err := os.Mkdir(dir, perm); err != nil {
		return err
	}
	return os.Chmod(dir, perm)
}

// ours refuses a data folder in which another user left files: a start as root
// before a start as an ordinary user does that.
func ours(c config.Config, euid int) error {
	if euid == 0 {
		return nil
	}
	names := []string{".", "run", "secrets", "logs", "reader", "scraper", "postgres", "supervisor.lock", "settings.json", "supervisor-events.log"}
	for _, name := range names {
		path := filepath.Join(c.DataDir, name)
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if owner := ownerOf(info); owner != euid {
			return wrong(config.Data, "%s belongs to %s; run: sudo chown -R %s %s", path, pgcluster.UserName(uint32(owner)), me(euid), c.DataDir)
		}
	}
	return nil
}

func ownerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

func me(euid int) string { return pgcluster.UserName(uint32(euid)) }
