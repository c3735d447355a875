package play

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

func TestParseRoster(t *testing.T) {
	here, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Mkdir(filepath.Join(here, "sub dir"), 0o777)
	}
	must.OK(t, err)
	for _, tt := range []struct{ text, want string }{
		{"", "[] <nil>"},
		{"# a class\n\nalice,python3 alice.py\n", "[alice|python3 alice.py|] <nil>"},
		{"Bob O'Neil , \"java -cp .,lib Bob\", sub dir\r\n", "[Bob O'Neil|java -cp .,lib Bob|/sub dir] <nil>"},
		{"\ufeffalice,python3 alice.py\n", "[alice|python3 alice.py|] <nil>"},
		{"\ufeff\"Name\",COMMAND,Directory\r\na,b\r\n", "[a|b|] <nil>"},
		{"name,command\na,b", "[a|b|] <nil>"},
		{"a,b\nname,command", "[a|b| name|command|] <nil>"}, // not the first line
		{"name,command.py", "[name|command.py|] <nil>"},
		{"a,b\nb,c,nowhere", "[] r:2: directory nowhere: lstat nowhere: no such file or directory"},
		{"a,b,r", "[] r:1: r is not a directory"},
		{"\xff,b", `[] r:1: name "\xff": expected 1 to 40 printable characters`},
		{"alice", `[] r:1: expected NAME,COMMAND or NAME,COMMAND,DIRECTORY, found "alice"`},
		{"a,b,c,d", `[] r:1: expected NAME,COMMAND or NAME,COMMAND,DIRECTORY, found "a,b,c,d"`},
		{"\na,", `[] r:2: expected NAME,COMMAND or NAME,COMMAND,DIRECTORY, found "a,"`},
		{",b", `[] r:1: name "": expected 1 to 40 printable characters`},
		{"a,b\n#\na,c", `[] r:3: name "a": line 1 has it, too`},
		{"a,\"b\nc\"", `[] r:1: expected no control characters`},
		{"a,b\n\"a,b", `[] r:2: extraneous or missing " in quoted-field`},
	} {
		source := filepath.Join(here, "r")
		must.OK(t, os.WriteFile(source, []byte(tt.text), 0o666))
		specs, err := readRoster(source)
		all := []string{}
		for _, s := range specs {
			all = append(all, s.name+"|"+s.rest+"|"+strings.TrimPrefix(s.dir, here))
		}
		if got := strings.ReplaceAll(fmt.Sprint(all, " ", err), here+"/", ""); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
}

// FuzzParseRoster checks that each program of a valid roster has a name of its own and a command on
// one line.
func FuzzParseRoster(f *testing.F) {
	for _, text := range []string{"a,b\n", "# c\n\"a\",\"b,c\",d\n", "a,b\na,b\n", "\xff,b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		specs, err := parseRoster(strings.NewReader(text), "r")
		seen := make(map[string]bool)
		for _, s := range specs {
			if err != nil || seen[s.name] || checkName(s.name) != nil || s.rest == "" || strings.ContainsAny(s.rest+s.dir, "\n\r\x00") {
				t.Errorf("%q: %+v", text, s)
			}
			seen[s.name] = true
		}
	})
}

func TestParseNamed(t *testing.T) {
	for word, want := range map[string]string{
		"random":                       "|random",
		"table:a=b":                    "|table:a=b",
		"alice=table:a=b":              "alice|table:a=b",
		"Bob O'Neil=program:a=b c":     "Bob O'Neil|program:a=b c",
		"=random":                      `name "": expected 1 to 40 printable characters`,
		"a\tb=random":                  `name "a\tb": expected 1 to 40 printable characters`,
		strings.Repeat("a", 41) + "=x": `player "x": expected ` + entrantForms,
		"a=b=random":                   `player "b=random": expected ` + entrantForms,
	} {
		s, err := parseNamed(word)
		got := s.name + "|" + s.text
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
