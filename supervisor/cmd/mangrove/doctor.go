package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/internal/redact"
	"mangrove/supervisor/internal/chronicle"
	"mangrove/supervisor/internal/journal"
)

const (
	// maxSupport bounds the bundle, in bytes.
	maxSupport = 1 << 20
	// supportLines and supportText bound what is taken of each log, in lines and bytes:
	// six of them fit although nothing can be packed.
	supportLines = 400
	supportText  = 128 << 10
)

type doctorCommand struct {
	File string `arg:"" optional:"" help:"Where to put it; mangrove-support.zip here if left out."`
}

// Help is shown by `mangrove doctor --help`.
func (doctorCommand) Help() string {
	return "Writes one zip of at most 1 MiB for a bug report: how everything stands, what check says, versions, the last lines of each log with secrets taken out, the names of the settings " +
		"that are set but none of their values, and what the machine has. A file that is there already is left alone. Look into it before you send it.\n\n" +
		"Exit codes: 0 written, 1 it cannot be written, 2 a wrong setting.\n\n" +
		"Example: mangrove doctor /tmp/mangrove-support.zip"
}

// Run is `mangrove doctor`.
func (cmd doctorCommand) Run(con console) error {
	c, err := configured()
	if err != nil {
		return err
	}
	file := cmp.Or(cmd.File, "mangrove-support.zip")
	if _, err := os.Lstat(file); err == nil {
		return coded(config.ExitFailure, "%s is there already; name another file", file)
	}
	data, err := pack(supportFiles(c))
	if err != nil {
		return err
	}
	if err := durable.WriteFile(file, data, 0o600); err != nil {
		return coded(config.ExitFailure, "%s cannot be written: %s", file, durable.Reason(err))
	}
	_, err = fmt.Fprintf(con.out, "%s is written (%d KiB); look into it before you send it\n", file, (len(data)+1023)/1024)
	return err
}

// supportFile is one file of the bundle.
type supportFile struct{ name, text string }

// supportFiles is the list of all that leaves. What is not here does not.
func supportFiles(c config.Config) []supportFile {
	hide := secretsOf(c, os.Environ())
	clean := func(text string) string {
		body, _ := redact.Body([]byte(text), "text/plain", hide)
		return string(body)
	}
	var status bytes.Buffer
	if answer, err := askStatus(context.Background(), c); err != nil {
		fmt.Fprintf(&status, "no supervisor answers: %s\n", err)
	} else {
		_ = writeStatus(&status, answer)
	}
	parts, _ := checkParts(c)
	var checked bytes.Buffer
	_ = writeParts(&checked, parts)
	files := []supportFile{
		{"about.txt", about(c)},
		{"status.txt", clean(status.String())},
		{"check.txt", clean(checked.String())},
		{"settings.txt", settingsSet(os.Environ())},
	}
	events := strings.TrimSuffix(filepath.Base(chronicle.Path(c.DataDir)), ".log")
	for _, name := range append(logNames(), events) {
		dir := c.LogDir()
		if name == events {
			dir = c.DataDir
		}
		lines, err := journal.Log{Dir: dir, Name: name}.Last(supportLines)
		switch {
		case err != nil:
			lines = []string{"it cannot be read: " + err.Error()}
		case len(lines) == 0:
			continue
		}
		for i, l := range lines {
			lines[i] = clean(redact.Line(logged(l)))
		}
		for len(lines) > 1 && len(strings.Join(lines, "\n")) > supportText {
			lines = lines[1+len(lines)/10:]
		}
		files = append(files, supportFile{"logs/" + name + ".log", strings.Join(lines, "\n") + "\n"})
	}
	return files
}

// loggedFields are the fields of a log's line that leave; a line that is no JSON, as
// PostgreSQL's and a crash's, leaves as text.
var loggedFields = []string{
	"level", "time", "msg", "event", "service", "name", "state", "pid", "failures", "last_exit", "reason", "act", "said", "refused", "error", "cause", "class",
	"method", "site", "job", "from", "to", "version", "sites", "answers", "loops", "stacks", "stack", "panic", "rest", "end", "looked_at", "requested", "skipped", "part", "where", "because", "left_out", "last",
}

// logged takes what is not on the list out of a line.
func logged(line string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(line), &fields) != nil {
		return line
	}
	var b strings.Builder
	for _, name := range loggedFields {
		if value, ok := fields[name]; ok {
			fmt.Fprintf(&b, "%s=%v ", name, value)
		}
	}
	return strings.TrimSpace(b.String())
}

// secretsOf are the values that are secret here: those of settings that may be, and
// what lies in the files of secrets. The redactor takes them out wherever they stand.
func secretsOf(c config.Config, environ []string) []string {
	var out []string
	for _, s := range []config.Secret{c.DatabaseURL, c.DatabaseURLOwner, c.DatabaseURLReader, c.DatabaseURLScraper} {
		out = append(out, passwordOf(s.Reveal())...)
	}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if len(value) >= 8 && !slices.Contains([]string{"PATH", "HOME", "PWD", "OLDPWD", "SHELL", "TERM", "LANG", "USER", "LOGNAME", "TMPDIR"}, name) && !strings.HasPrefix(name, "MANGROVE_") {
			out = append(out, value)
		}
	}
	files, _ := filepath.Glob(filepath.Join(c.SecretsDir(), "*"))
	for _, file := range append(files, c.ClaimCodeFile()) {
		if data, err := os.ReadFile(file); err == nil {
			out = append(out, passwordOf(strings.TrimSpace(string(data)))...)
		}
	}
	return out
}

// passwordOf is a secret, and the password in it if it is an address.
func passwordOf(secret string) []string {
	_, rest, _ := strings.Cut(secret, "://")
	userinfo, _, _ := strings.Cut(rest, "@")
	_, password, _ := strings.Cut(userinfo, ":")
	return slices.DeleteFunc([]string{secret, password}, func(s string) bool { return s == "" })
}

// settingsSet says of each setting whether it is set, and never to what.
func settingsSet(environ []string) string {
	var b strings.Builder
	for _, name := range config.Names() {
		set := "not set"
		if slices.ContainsFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) {
			set = "set"
		}
		fmt.Fprintf(&b, "%s: %s\n", name, set)
	}
	return b.String()
}

// about is what was built and what it runs on.
func about(c config.Config) string {
	var b strings.Builder
	fmt.Fprintf(&b, "mangrove %s, %s, %s/%s, %d processors\nmade at %s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().Format(time.RFC3339))
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		fmt.Fprintf(&b, "kernel %s\n", unix.ByteSliceToString(u.Release[:]))
	}
	var memory unix.Sysinfo_t
	if unix.Sysinfo(&memory) == nil {
		unit := uint64(memory.Unit)
		fmt.Fprintf(&b, "memory %d MiB, of it %d MiB free; up for %s\n", uint64(memory.Totalram)*unit>>20, uint64(memory.Freeram)*unit>>20, time.Duration(memory.Uptime)*time.Second)
	}
	for _, folder := range []struct{ name, path string }{{"data", c.DataDir}, {"library", c.LibraryDir}} {
		fmt.Fprintf(&b, "%s folder: %s\n", folder.name, disk(folder.path))
	}
	return b.String()
}

// disk is how much room the file system of a folder has.
func disk(path string) string {
	var st unix.Statfs_t
	err := unix.Statfs(path, &st)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "not there"
	case err != nil:
		return durable.Reason(err)
	}
	return fmt.Sprintf("%d MiB, of it %d MiB free; %d inodes free; type %x", st.Blocks*uint64(st.Frsize)>>20, st.Bavail*uint64(st.Frsize)>>20, st.Ffree, st.Type)
}

// pack makes the zip. One that would be too large loses the oldest half of its longest
// file until it is not.
func pack(files []supportFile) ([]byte, error) {
	for {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		for _, f := range files {
			w, err := z.Create(f.name)
			if err == nil {
				_, err = w.Write([]byte(f.text))
			}
			if err != nil {
				return nil, err
			}
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
		if out.Len() <= maxSupport {
			return out.Bytes(), nil
		}
		longest := slices.MaxFunc(files, func(a, b supportFile) int { return cmp.Compare(len(a.text), len(b.text)) })
		i := slices.Index(files, longest)
		files[i].text = "(cut)\n" + files[i].text[len(files[i].text)/2:]
	}
}
