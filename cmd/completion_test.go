//go:build linux

package cmd_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/terminal"
)

// TestCompletion loads the completion in each shell that is installed, in a terminal, as the
// help describes, and presses the tab key after the beginning of words.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []struct{ start, load string }{
		{"bash --norc --noprofile -i", "source <(driver completion bash); source <(play completion bash)"},
		{"zsh -f -i", "autoload -U compinit; compinit -u -D; source <(driver completion zsh); source <(play completion zsh)"},
		{"fish --no-config -i", "driver completion fish | source; play completion fish | source"},
	} {
		name, rest, _ := strings.Cut(shell.start, " ")
		t.Run(name, func(t *testing.T) {
			path, err := exec.LookPath(name)
			if err != nil {
				t.Skip(err)
			}
			dir := t.TempDir()
			// terminal.Start also starts a program by its path.
			term := terminal.Start(t, dir, path+" "+rest, 100, 40, "HOME="+dir, "PS1=ready> ", "ZDOTDIR="+dir)
			if name == "fish" {
				term.Types("function fish_prompt; echo -n 'ready> '; end\r")
			}
			term.Shows(`ready>`)
			term.Types(shell.load + "; echo load''ed\r")
			term.Shows(`(?m)^loaded`)
			// Input before the next prompt may lose a character, and Ctrl-C while the shell
			// still asks for completions may lose that line.
			empty := regexp.MustCompile(`ready>\s*$`)
			stop := func() {
				must.Until(t, func() bool {
					term.Types("\x03")
					time.Sleep(200 * time.Millisecond)
					return empty.MatchString(term.Text())
				}, func() string { return "there is no prompt any more:\n" + term.Text() })
			}
			for typed, want := range map[string]string{
				"driver loo\t":                   `driver lookup`,
				"driver solve quick\t":           `driver solve quickcross`,
				"driver solve connectn --widt\t": `driver solve connectn --width`,
				"driver lookup --paren\t":        `driver lookup --parents`,
				"play find\t":                    `play find-winner`,
				"driver completion ba\t":         `driver completion bash`,
			} {
				term.Types("clear\r")
				term.Shows(`^\s*ready>\s*$`)
				term.Types(typed)
				term.Shows(`(?m)^ready> ` + want)
				stop()
			}
			// A flag's value is completed as a file name if no other completion applies.
			term.Types("echo >solved; clear\r")
			term.Shows(`^\s*ready>\s*$`)
			term.Types("driver stats --data solv\t")
			term.Shows(`(?m)^ready> driver stats --data solved`)
			stop()
		})
	}
}
