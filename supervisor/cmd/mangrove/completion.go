package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"For which shell: bash, zsh or fish."`
}

// Help is shown by `mangrove completion --help`.
func (completionCommand) Help() string {
	return "Prints what makes the shell complete commands when Tab is pressed. Put this into its start file:\n" +
		"bash: source <(mangrove completion bash)\nzsh, after compinit: source <(mangrove completion zsh)\nfish: mangrove completion fish | source\n\n" +
		"Example: mangrove completion bash > /etc/bash_completion.d/mangrove"
}

// Run is `mangrove completion`.
func (cmd completionCommand) Run(con console) error {
	parser, err := newParser(&commands{}, con)
	if err != nil {
		return err
	}
	script := map[string]func([]place) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[cmd.Shell]
	_, err = fmt.Fprint(con.out, script(places(parser.Model.Node, "")))
	return err
}

// place is a point in the command line and the words that may come next.
type place struct {
	// path is the commands so far, separated by spaces; "" is the beginning.
	path  string
	words []word
}

// word is one word and what it is for.
type word struct{ text, help string }

// places lists every command with what may follow it: its own commands, the values of
// its first argument where they are known, and its flags.
func places(n *kong.Node, path string) []place {
	here := place{path: path}
	var below []place
	for _, c := range n.Children {
		here.words = append(here.words, word{c.Name, c.Help})
		below = append(below, places(c, strings.TrimSpace(path+" "+c.Name))...)
	}
	for _, a := range n.Positional {
		for _, value := range a.EnumSlice() {
			if value != "" {
				here.words = append(here.words, word{value, a.Help})
			}
		}
	}
	for _, f := range n.Flags {
		here.words = append(here.words, word{"--" + f.Name, f.Help})
	}
	if path == "start" { // its argument is a service or a Job's number
		for _, s := range []string{"postgres", "scraper", "reader"} {
			here.words = append(here.words, word{s, "The service."})
		}
	}
	if !slices.ContainsFunc(here.words, func(w word) bool { return w.text == "--help" }) {
		here.words = append(here.words, word{"--help", "Show help."})
	}
	return append([]place{here}, below...)
}

// texts are a place's words, separated by spaces.
func (p place) texts() string {
	var out []string
	for _, w := range p.words {
		out = append(out, w.text)
	}
	return strings.Join(out, " ")
}

// pathCases is the shells' table of places; each line sets words.
func pathCases(all []place) string {
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "    %q) words=%q ;;\n", p.path, p.texts())
	}
	return b.String()
}

func bashScript(all []place) string {
	return `# mangrove completion for bash
_mangrove() {
  local i path="" words="" cur="${COMP_WORDS[COMP_CWORD]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${COMP_WORDS[i]}" in -*) ;; *) path="${path:+$path }${COMP_WORDS[i]}" ;; esac
  done
  case "$path" in
` + pathCases(all) + `  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _mangrove mangrove
`
}

func zshScript(all []place) string {
	return `#compdef mangrove
# mangrove completion for zsh
_mangrove() {
  local i thepath="" known="" 
  for ((i = 2; i < CURRENT; i++)); do
    case "${words[i]}" in -*) ;; *) thepath="${thepath:+$thepath }${words[i]}" ;; esac
  done
  case "$thepath" in
` + strings.ReplaceAll(pathCases(all), ") words=", ") known=") + `  esac
  compadd -- ${=known}
  [[ -n "$known" ]] || _files
}
compdef _mangrove mangrove
`
}

func fishScript(all []place) string {
	var b strings.Builder
	b.WriteString(`# mangrove completion for fish
function __mangrove_path
    set -l path
    for w in (commandline -opc)[2..-1]
        string match -q -- '-*' $w; or set -a path $w
    end
    string join ' ' $path
end
`)
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	for _, p := range all {
		for _, w := range p.words {
			what := "-f -a " + quote(w.text)
			if name, flag := strings.CutPrefix(w.text, "--"); flag {
				what = "-l " + quote(name)
			}
			fmt.Fprintf(&b, "complete -c mangrove -n 'test \"$(__mangrove_path)\" = %q' %s -d %s\n", p.path, what, quote(w.help))
		}
	}
	return b.String()
}
