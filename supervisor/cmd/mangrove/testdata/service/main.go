// Program service stands in for the scraper and the reader in the supervisor's
// tests: a real process with real sockets that does what files in
// MANGROVE_DATA/script tell it to. It is neither of the two: it keeps no data.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"

	"mangrove/internal/config"
	"mangrove/internal/grpcserver"
	"mangrove/internal/lifeline"
	"mangrove/internal/metrics"
)

func main() { os.Exit(run()) }

func run() int {
	name := strings.TrimPrefix(filepath.Base(os.Args[0]), "mangrove-")
	if len(os.Args) > 1 && os.Args[1] != "after-crash" {
		name = os.Args[1]
	}
	if name == "version" { // asked without a data folder
		fmt.Println("unknown")
		return 0
	}
	c, err := config.FromEnvironment()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return config.ExitConfig
	}
	script := filepath.Join(c.DataDir, "script")
	write := func(file, text string) {
		f, err := os.OpenFile(filepath.Join(script, file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = f.WriteString(text + "\n")
			_ = f.Close()
		}
	}
	if err := lifeline.Watch(os.Getenv(lifeline.Env), func() { write("lost", name) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return config.ExitConfig
	}
	write(name+".env", strings.Join(os.Environ(), "\n"))
	write(name+".args", strings.Join(os.Args[1:], " "))
	if data, err := os.ReadFile(filepath.Join(script, name+".exit")); err == nil {
		var code int
		_, _ = fmt.Sscan(string(data), &code)
		_, text, _ := strings.Cut(string(data), " ")
		fmt.Fprintln(os.Stderr, strings.TrimSpace(text))
		return code
	}
	if at, err := os.ReadFile(filepath.Join(script, name+".refuses")); err == nil && string(at) == c.HTTP+" "+c.LibraryDir {
		fmt.Fprintln(os.Stderr, "not with that")
		return 1
	}
	if name == "migrate" || name == "tell-parked" || name == "database" {
		return 0
	}
	if name == "check" {
		text, err := os.ReadFile(filepath.Join(script, "check.out"))
		if err != nil {
			text = []byte(`{"part":"database","well":true,"said":"answers"}`)
		}
		fmt.Println(string(text))
		return 0
	}
	if name == "progress" {
		text, err := os.ReadFile(filepath.Join(script, "progress.out"))
		if err != nil {
			text = []byte(`{"version":"unknown","database":31,"program":31,"holds":[]}`)
		}
		fmt.Println(string(text))
		return 0
	}
	if name == "site" {
		_, _ = io.Copy(os.Stdout, os.Stdin)
		return 0
	}
	if orphans, err := os.ReadFile(filepath.Join(script, name+".orphans")); err == nil {
		p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", string(orphans)}, &os.ProcAttr{Env: os.Environ()})
		if err == nil {
			_, err = p.Wait()
		}
		write("orphans", fmt.Sprint(err))
	}
	if _, err := os.Stat(filepath.Join(script, name+".noise")); err == nil {
		go func() {
			for {
				fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 1000))
				time.Sleep(time.Millisecond)
			}
		}()
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	socket, figures := c.ScraperSocket(), c.ScraperMetricsSocket()
	if name == "reader" {
		socket, figures = c.ReaderSocket(), c.ReaderMetricsSocket()
		go func() {
			fmt.Fprintln(os.Stderr, http.ListenAndServe(c.HTTP, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte("claim"))
			})))
			os.Exit(1)
		}()
		_ = os.MkdirAll(filepath.Dir(c.ClaimCodeFile()), 0o700)
		_ = os.WriteFile(c.ClaimCodeFile(), []byte("ABCD-EFGH-JKLM\n"), 0o600)
	}
	l, err := grpcserver.ListenUnix(socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if _, err := metrics.Listen(figures, metrics.New("stand-in"), zap.NewNop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s := grpcserver.New(zap.NewNop(), grpc.Creds(grpcserver.PeerCredentials(os.Geteuid())))
	go func() {
		for _, err := os.Stat(filepath.Join(script, name+".mute")); err == nil; _, err = os.Stat(filepath.Join(script, name+".mute")) {
			time.Sleep(10 * time.Millisecond)
		}
		s.Set(grpcserver.Liveness, true)
	}()
	go func() { _ = s.Serve(l) }()
	for range stop {
		write("order", name)
		if _, err := os.Stat(filepath.Join(script, name+".deaf")); err == nil {
			continue
		}
		break
	}
	s.Stop(time.Second)
	return 0
}
