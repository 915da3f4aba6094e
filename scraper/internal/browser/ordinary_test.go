package browser

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asOrdinary are the tests that an ordinary user's browser has to pass as root's
// does: it starts, is confined, reads, is lost and found, and ends with its owner.
const asOrdinary = "^(TestItIsConfined|TestAPageMadeByItsScriptIsRead|TestAHostilePageGetsNowhere|TestSitesAreKeptApart|TestWhatScriptsAskForIsPaced|TestTheBrowserIsLost|TestItDiesWithItsOwner)$"

// Where root runs the tests an ordinary user runs them too, with a home of its own:
// its browser has the same user and is sandboxed all the same. It is alone: its own
// tests have bounds of time that others beside them would use up.
func TestAsAnOrdinaryUser(t *testing.T) {
	needChromium(t)
	if os.Geteuid() != 0 {
		t.Skip("an ordinary user runs the tests already")
	}
	who, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, uerr := strconv.ParseUint(who.Uid, 10, 32)
	gid, gerr := strconv.ParseUint(who.Gid, 10, 32)
	if uerr != nil || gerr != nil {
		t.Fatal(uerr, gerr)
	}
	// The folder of the tests' program is root's alone.
	home := options(t).Dir
	if err := os.Chown(home, int(uid), int(gid)); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(home, "browser.test")
	copyProgram(t, program)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.run="+asOrdinary, "-test.v", "-test.count=1")
	cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "CI=true"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range strings.Split(strings.Trim(asOrdinary, "^()$"), "|") {
		if !regexp.MustCompile(`(?m)^--- PASS: ` + name + ` `).Match(out) {
			t.Errorf("%s did not pass as %s\n%s", name, who.Username, out)
		}
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, from); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
