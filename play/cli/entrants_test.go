package play

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/play/internal/player"
)

func TestParseEntrant(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"human", "human"},
		{"random", "random"},
		{"table", "table"},
		{"table:my data:1", "table my data:1"},
		{"machine", "machine"},
		{"machine:time=200ms", "machine 0 200ms"},
		{"machine:depth=6", "machine 6 0s"},
		{"machine:level=club", "machine club4 0s"},
		{"program:python3 a.py, b:c", "program python3 a.py, b:c"},

		{"", `player "": expected ` + entrantForms},
		{"Human", `player "Human": expected ` + entrantForms},
		{"human:me", `player "human:me": expected ` + entrantForms},
		{"program", `player "program": expected ` + entrantForms},
		{"program:", `player "program:": expected something after the colon`},
		{"table:", `player "table:": expected something after the colon`},
		{"program:a\nb", `player "program:a\nb": expected UTF-8 without control characters`},
		{"program:a\xff", `player "program:a\xff": expected UTF-8 without control characters`},
		{"random:7", `player "random:7": expected ` + entrantForms},
		{"machine:depth", `player "machine:depth": option "depth": expected an integer of 1 or more, found ""`},
		{"machine:memory=1M", `player "machine:memory=1M": option "memory=1M": expected time=…, depth=… or level=…`},
		{"machine:depth=2,time=1s", `player "machine:depth=2,time=1s": option "depth=2,time=1s": expected an integer of 1 or more, found "2,time=1s"`},
		{"machine:level=divine", `player "machine:level=divine": option "level=divine": level "divine": expected random, beginner, novice, casual, regular, club, strong, expert, master, grandmaster, perfect`},
		{"machine:time=0s", `player "machine:time=0s": option "time=0s": expected more than 0`},
	} {
		s, err := parseEntrant(tt.text)
		got := s.kind
		if s.rest != "" {
			got += " " + s.rest
		}
		if s.level != (player.Level{}) {
			got += fmt.Sprint(" ", s.level.Name, s.level.Depth, s.level.Time)
		}
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
}

// FuzzParseEntrant checks that every text that can be parsed is a player with what it needs.
func FuzzParseEntrant(f *testing.F) {
	for _, text := range []string{"human", "random", "table:d", "machine:time=200ms", "machine:depth=6", "program:a b", "machine:level=club", "machine:time=1s,depth=2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseEntrant(text)
		if err != nil {
			return
		}
		if s.text != text || s.level.Time < 0 || s.level.Depth < 0 || s.kind == "program" && s.rest == "" {
			t.Errorf("%q: %+v", text, s)
		}
	})
}

// TestNameOfSecondStart asks two programs for their name, the same, of which one fails when it is first started: neither
// gets that name.
func TestNameOfSecondStart(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	const answers = `while read -r id name rest; do case $name in name) echo "=$id same" ;; list_commands) echo "=$id name" ;; *) echo "=$id" ;; esac; echo; done`
	specs := []entrantSpec{{text: "program:a", kind: "program", rest: answers}, {text: "program:b", kind: "program", rest: "[ -e " + started + " ] || { : >" + started + "; exit 1; }; " + answers}}
	l := &lobby{g: must.Get(connectn.New(3, 3, 3))(t)}
	l.askNames(t.Context(), specs)
	all, err := l.entrants(specs)
	if err != nil || all[0].Name != "program:a" || all[1].Name != "program:b" {
		t.Errorf("%v, %v", all, err)
	}
}

// TestNames checks the names of players: a name that a program gives itself never stops a match, whatever
// the order of the players.
func TestNames(t *testing.T) {
	random, program := entrantSpec{text: "random"}, func(own string) entrantSpec { return entrantSpec{text: "program:x", own: own} }
	called := func(name string) entrantSpec { return entrantSpec{text: "random", name: name} }
	for _, tt := range []struct {
		specs []entrantSpec
		want  string
	}{
		{[]entrantSpec{random, random}, "random|random (2)"},
		{[]entrantSpec{program("x"), random}, "x|random"},
		{[]entrantSpec{program("x"), program("x")}, "program:x|program:x (2)"},
		{[]entrantSpec{program("random"), random}, "program:x|random"},
		{[]entrantSpec{random, program("random")}, "random|program:x"},
		{[]entrantSpec{random, random, program("random (2)")}, "random|random (2)|program:x"},
		{[]entrantSpec{random, called("random")}, "random (2)|random"},
		{[]entrantSpec{called("x"), program("x")}, "x|program:x"},
		{[]entrantSpec{called("x"), called("x")}, `name "x": two players have it`},
	} {
		all, err := new(lobby).entrants(tt.specs)
		var names []string
		for _, e := range all {
			names = append(names, e.Name)
		}
		if got := strings.Join(names, "|"); got != tt.want && fmt.Sprint(err) != tt.want {
			t.Errorf("%s, %v, want %s", got, err, tt.want)
		}
	}
}
