package browser

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"mangrove/internal/config"
)

// wrapped is the program behind Debian's start script. The script adds flags
// and variables of its own, among them a machine-wide list of extensions.
const wrapped = "/usr/lib/chromium/chromium"

// find returns the path of Chromium's program. The error is for the operator.
func find(program string) (string, error) {
	if program != "" {
		if err := executable(program); err != nil {
			return "", fmt.Errorf("%s: %s cannot be run: %w", config.Chromium, program, err)
		}
		return program, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path == "/usr/bin/chromium" && executable(wrapped) == nil {
			path = wrapped
		}
		return path, nil
	}
	return "", fmt.Errorf("there is no Chromium; install it (apt-get install chromium) or set %s to its path", config.Chromium)
}

// Installed returns where Chromium is, or why there is none to be found: program, or
// the first on the path if that is "". It starts nothing and touches no profile.
func Installed(program string) (path string, err error) { return find(program) }

func executable(path string) error {
	info, err := os.Stat(path)
	var p *fs.PathError
	switch {
	case errors.As(err, &p):
		return p.Err
	case err != nil:
		return err
	case info.IsDir():
		return syscall.EISDIR
	case info.Mode()&0o111 == 0:
		return syscall.EACCES
	}
	return nil
}

// credential is whom Chromium runs as: root's browser has no sandbox and would
// own the machine if a page broke out, so root gives it to a user that owns
// nothing. Nil is our own user.
func credential() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"mangrove-browser", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if uerr == nil && gerr == nil && uid != 0 {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("there is neither a user mangrove-browser nor a user nobody to run Chromium as; root does not run it")
}

// profiles is what the names of an owner's profiles begin with.
func profiles(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return "mangrove-b-" + hex.EncodeToString(sum[:3]) + "-"
}

// maxDir is how long the path of the folder with profiles may be: Chromium makes
// a unix socket some folders below, whose path the kernel bounds at 107.
const maxDir = 32

// makeProfile makes a fresh profile folder for c's user.
func makeProfile(dir, owner string, as *syscall.Credential) (string, error) {
	if len(dir) > maxDir {
		return "", fmt.Errorf("make its profile: the path of the folder for temporary files, %s, is too long for Chromium's sockets", dir)
	}
	profile, err := os.MkdirTemp(dir, profiles(owner))
	if err != nil {
		return "", fmt.Errorf("make its profile: %w", err)
	}
	if as != nil {
		if err := os.Chown(profile, int(as.Uid), int(as.Gid)); err != nil {
			_ = os.RemoveAll(profile)
			return "", fmt.Errorf("make its profile: %w", err)
		}
	}
	return profile, nil
}

// removeProfiles removes what a killed process of the same owner left.
func removeProfiles(dir, owner string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // a folder that cannot be read is found out about at the first start
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), profiles(owner)) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// environment is all that Chromium is told of ours (C33).
func environment(profile string) []string {
	path := os.Getenv("PATH")
	if path == "" {
		path = "/usr/bin:/bin"
	}
	return []string{"PATH=" + path, "HOME=" + profile, "LANG=C.UTF-8", "TMPDIR=" + profile}
}

// arguments are Chromium's. refuse is a proxy that lets nothing through: what is
// sent outside a page's own context is Chromium's own business and goes nowhere.
func arguments(profile, refuse string, unsandboxed bool) []string {
	args := []string{
		"--headless", "--remote-debugging-pipe", "--user-data-dir=" + filepath.Join(profile, "profile"),
		// Where requests go. The bypass list's one entry takes away the built-in
		// exception for loopback; names are looked up by the proxy, never here.
		"--proxy-server=" + refuse, "--proxy-bypass-list=<-loopback>", "--disable-quic",
		// Over HTTP/1 no more than six requests to a host are under way at once.
		"--disable-http2",
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
		"--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--dns-prefetch-disable", "--no-pings", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-domain-reliability", "--disable-client-side-phishing-detection", "--disable-default-apps", "--disable-extensions",
		"--disable-features=MediaRouter,DialMediaRouteProvider,Translate,OptimizationHints,AutofillServerCommunication,NetErrorAutoReload",
		// What a page may use. A small /dev/shm would crash its tabs.
		"--disable-dev-shm-usage", "--disable-gpu", "--disable-notifications", "--deny-permission-prompts", "--mute-audio",
		"--blink-settings=imagesEnabled=false",
		// What it keeps and says.
		"--disable-breakpad", "--no-first-run", "--no-default-browser-check", "--password-store=basic", "--metrics-recording-only",
		// Pages of one browser stand behind each other; all are at work.
		"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
	}
	if unsandboxed {
		args = append(args, "--no-sandbox")
	}
	return append(args, "about:blank")
}
