package deploytest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"mangrove/internal/config"
)

// instruction is one line of a Dockerfile, with what continues it.
type instruction struct{ word, rest string }

func instructions(text string) (out []instruction) {
	var open strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		more, continued := strings.CutSuffix(line, "\\")
		open.WriteString(more)
		if !continued {
			word, rest, _ := strings.Cut(open.String(), " ")
			out = append(out, instruction{word, rest})
			open.Reset()
		}
	}
	return out
}

// last is the last instruction of that word.
func last(all []instruction, word string) string {
	for _, i := range slices.Backward(all) {
		if i.word == word {
			return i.rest
		}
	}
	return ""
}

// TestTheImage: two stages, nobody's root, nothing fetched on the way but packages.
func TestTheImage(t *testing.T) {
	all := instructions(string(shipped(t, "deploy/Dockerfile")))
	known := []string{"FROM", "ARG", "WORKDIR", "COPY", "RUN", "ENV", "VOLUME", "EXPOSE", "USER", "STOPSIGNAL", "HEALTHCHECK", "CMD"}
	base := regexp.MustCompile(`^[a-z]+:[\w.-]*\d[\w.-]*|^debian:bookworm-slim$`)
	stages, final := 0, 0
	for n, i := range all {
		if !slices.Contains(known, i.word) {
			t.Errorf("%s is no instruction, or none that is used here", i.word)
		}
		if i.word == "FROM" {
			stages, final = stages+1, n
			if !base.MatchString(i.rest) {
				t.Errorf("the base %q has no version", i.rest)
			}
		}
	}
	if stages != 2 {
		t.Errorf("%d stages, want two", stages)
	}
	build, run := all[:final], all[final:]
	for _, i := range build {
		if i.word == "RUN" && (!strings.Contains(i.rest, "-tags nodynamic") || !strings.Contains(i.rest, "main.version=") || !strings.Contains(i.rest, "CGO_ENABLED=0")) {
			t.Errorf("it is built with %s", i.rest)
		}
	}
	if user := last(run, "USER"); user != "mangrove" {
		t.Errorf("it runs as %q", user)
	}
	for _, i := range run {
		if i.word == "RUN" && (strings.Contains(i.rest, "curl") || strings.Contains(i.rest, "wget")) || i.word == "COPY" && !strings.HasPrefix(i.rest, "--from=build ") {
			t.Errorf("the image takes what was not built: %s %s", i.word, i.rest)
		}
	}
	if cmd := last(run, "CMD"); cmd != `["/bin/sh", "-c", "exec mangrove up > /dev/null"]` {
		t.Errorf("process 1 is %s: it has to be mangrove itself, whose console the container would keep", cmd)
	}
	if check := last(run, "HEALTHCHECK"); !strings.Contains(check, `CMD ["mangrove", "check"]`) {
		t.Errorf("its health is asked with %s", check)
	}
	if env := last(run, "ENV"); !strings.Contains(env, "MANGROVE_HEALTH=0.0.0.0:8485") {
		t.Errorf("nobody outside reaches what listens on %s", env)
	}
}

type composition struct {
	Name     string `yaml:"name"`
	Services map[string]struct {
		Image       string            `yaml:"image"`
		Build       map[string]string `yaml:"build"`
		Restart     string            `yaml:"restart"`
		Grace       string            `yaml:"stop_grace_period"`
		ReadOnly    bool              `yaml:"read_only"`
		CapDrop     []string          `yaml:"cap_drop"`
		Security    []string          `yaml:"security_opt"`
		Tmpfs       []string          `yaml:"tmpfs"`
		Shm         string            `yaml:"shm_size"`
		Pids        int               `yaml:"pids_limit"`
		Environment map[string]string `yaml:"environment"`
		Ports       []string          `yaml:"ports"`
		Volumes     []string          `yaml:"volumes"`
		Networks    []string          `yaml:"networks"`
		Logging     struct {
			Driver  string            `yaml:"driver"`
			Options map[string]string `yaml:"options"`
		} `yaml:"logging"`
	} `yaml:"services"`
	Volumes  map[string]any `yaml:"volumes"`
	Networks map[string]any `yaml:"networks"`
}

// TestTheComposition: what a container may not do, what a restart policy cannot, and
// logs that do not grow for ever (C38, D26, H6). A key that is not known here fails.
func TestTheComposition(t *testing.T) {
	var c composition
	if err := yaml.UnmarshalWithOptions(shipped(t, "deploy/compose.yaml"), &c, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	m, ok := c.Services["mangrove"]
	if !ok || len(c.Services) != 1 {
		t.Fatalf("services: %v", c.Services)
	}
	for what, ok := range map[string]bool{
		"it is not started again by a policy that a person's stop ends": m.Restart == "unless-stopped",
		"its root can be written":                                         m.ReadOnly,
		"it keeps capabilities":                                           slices.Equal(m.CapDrop, []string{"ALL"}),
		"its programs may gain privileges":                                slices.Contains(m.Security, "no-new-privileges:true"),
		"its filter or its profile is taken away":                         !strings.Contains(strings.Join(m.Security, " "), "unconfined"),
		"there is no room for temporary files":                            len(m.Tmpfs) == 1 && strings.HasPrefix(m.Tmpfs[0], "/tmp:size="),
		"its shared memory is what Docker gives":                          m.Shm == "512m",
		"its logs grow for ever":                                          m.Logging.Driver == "json-file" && m.Logging.Options["max-size"] != "" && m.Logging.Options["max-file"] != "",
		"it is killed before its database has stopped":                    m.Grace == "130s",
		"a new container begins with a new budget":                        slices.Contains(m.Volumes, "data:/data"),
		"the library goes with the container":                             slices.Contains(m.Volumes, "library:/library"),
		"metrics are told without a token":                                m.Environment["MANGROVE_METRICS"] == "",
		"it is built from somewhere else than the root of the repository": m.Build["context"] == ".." && m.Build["dockerfile"] == "deploy/Dockerfile",
	} {
		if !ok {
			t.Error(what)
		}
	}
	for _, p := range m.Ports {
		if !strings.HasPrefix(p, "127.0.0.1:") {
			t.Errorf("%s is published to more than this machine", p)
		}
	}
	for _, v := range m.Volumes {
		name, _, _ := strings.Cut(v, ":")
		if _, ok := c.Volumes[name]; !ok || strings.Contains(v, "docker.sock") {
			t.Errorf("%s is mounted", v)
		}
	}
	for name := range m.Environment {
		if !slices.Contains(config.Names(), name) {
			t.Errorf("%s is no setting", name)
		}
	}
	if claim := m.Environment["MANGROVE_CLAIM_FROM"]; !strings.Contains(string(shipped(t, "deploy/compose.yaml")), "gateway: "+claim+"\n") {
		t.Errorf("it may be claimed from %s, which is not the gateway", claim)
	}
}
