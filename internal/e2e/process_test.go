package e2e

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"mangrove/internal/config"
)

// processes lists what runs of this installation, with command lines: every
// process below the supervisor, and every one that names the data folder.
func (m *mangrove) processes() map[int]string {
	m.t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		m.t.Fatal(err)
	}
	parents, found := map[int]int{}, map[int]string{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has just gone
		}
		// "pid (name) state ppid …": the name may hold anything but the last ")".
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 2 || fields[0] == "Z" && m.up == nil {
			continue
		}
		parents[pid], _ = strconv.Atoi(fields[1])
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		environ, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		ours := strings.Contains(string(line), m.data+"/") || slices.Contains(strings.Split(string(environ), "\x00"), config.Data+"="+m.data)
		if ours || m.up != nil && pid == m.up.Process.Pid {
			found[pid] = commandLine(line)
		}
	}
	for again := true; again; {
		again = false
		for pid, parent := range parents {
			_, known := found[pid]
			if _, below := found[parent]; below && !known {
				line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				found[pid], again = commandLine(line), true
			}
		}
	}
	for pid, line := range found {
		m.all[pid] = line
	}
	return found
}

func commandLine(raw []byte) string {
	return strings.TrimSpace(strings.ReplaceAll(string(raw), "\x00", " "))
}

// left lists what still runs of all that ever belonged to the installation.
func (m *mangrove) left() map[int]string {
	m.t.Helper()
	out := m.processes()
	for pid, line := range m.all {
		now, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && line != "" && commandLine(now) == line {
			out[pid] = line
		}
	}
	return out
}

// killAll kills every process of the installation at once, as a lost machine would.
func (m *mangrove) killAll() {
	m.t.Helper()
	for pid := range m.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if m.up != nil {
		<-m.ended
		m.up = nil
	}
	m.eventually("every killed process is gone", func() (bool, string) {
		left := m.left()
		return len(left) == 0, fmt.Sprint(left)
	})
}

// listening returns the TCP addresses that processes of the installation listen on.
func (m *mangrove) listening() []netip.AddrPort {
	m.t.Helper()
	byInode := map[string]netip.AddrPort{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(file)
		if err != nil {
			continue // no such protocol here
		}
		for line := range strings.Lines(string(table)) {
			fields := strings.Fields(line)
			if len(fields) < 10 || fields[3] != "0A" { // TCP_LISTEN
				continue
			}
			address, err := kernelAddress(fields[1])
			if err != nil {
				m.t.Fatalf("%s: %v", file, err)
			}
			byInode["socket:["+fields[9]+"]"] = address
		}
	}
	var out []netip.AddrPort
	for pid := range m.processes() {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, link := range links {
			to, _ := os.Readlink(link)
			if address, ok := byInode[to]; ok {
				out = append(out, address)
			}
		}
	}
	return out
}

// kernelAddress reads "0100007F:1F90": words of four bytes in the machine's
// order, which is little-endian wherever Chromium runs.
func kernelAddress(text string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(text, ":")
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil || len(host)%8 != 0 {
		return netip.AddrPort{}, fmt.Errorf("no address: %q", text)
	}
	var raw []byte
	for i := 0; i < len(host); i += 8 {
		word, err := strconv.ParseUint(host[i:i+8], 16, 32)
		if err != nil {
			return netip.AddrPort{}, fmt.Errorf("no address: %q", text)
		}
		raw = append(raw, byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
	}
	address, ok := netip.AddrFromSlice(raw)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("no address: %q", text)
	}
	return netip.AddrPortFrom(address.Unmap(), uint16(n)), nil
}
