package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/network"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/table"
)

// TestParents checks, for every kind of game, that the parents of every position are the
// positions with a move to it, and that a position without parents, unless it is the initial
// position, cannot be reached.
func TestParents(t *testing.T) {
	dirs := solved(t)
	dirs["larger"] = filepath.Join(t.TempDir(), "larger")
	runs(t, "solve connectn --width 4 --height 3 --connect 2 --data "+dirs["larger"])
	for name, dir := range dirs {
		tab := must.Get(table.OpenFS(store.Local{}, dir, some().Parse))(t)
		defer tab.Close()
		g := tab.Game()
		want := map[game.Position][]string{g.Start(): nil}
		for open := []game.Position{g.Start()}; len(open) > 0; {
			p := open[0]
			open = open[1:]
			for _, m := range g.Moves(nil, p) {
				from, known := want[m.To]
				if !known {
					open = append(open, m.To)
				}
				if line := fmt.Sprint(p); !slices.Contains(from, line) {
					want[m.To] = append(from, line)
				}
			}
		}
		for p, want := range want {
			parents := must.Get(tab.Predecessors(p))(t)
			var got []string
			for _, q := range parents {
				if v, ok, err := tab.Lookup(q.Position); err != nil || !ok || v != q.Value {
					t.Errorf("%s: %d, a parent, is %d, %v, %v, want %d", name, q.Position, v, ok, err, q.Value)
				}
				got = append(got, fmt.Sprint(q.Position))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d comes from %v, want %v", name, p, got, want)
			}
		}
	}
}

// FuzzLookup checks that the output for every input is an answer or an error, as one line of
// JSON.
func FuzzLookup(f *testing.F) {
	for _, text := range []string{"", "01", "0 1", "X O ", "0x11", "#17", "'X O '\t6", "11\t6", "5\tDRAW\t", "\"X\\"} {
		f.Add(text)
	}
	dir := f.TempDir() + "/d"
	if status, _, stderr := runLine(some(), "solve connectn --width 2 --height 2 --connect 2 --data "+dir, ""); status != 0 {
		f.Fatal(stderr)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\n") || len(text) > 1000 {
			return
		}
		status, stdout, stderr := runLine(some(), "lookup --json --data "+dir, text+"\n")
		if status > 1 || strings.Count(stdout, "\n") != 1 || strings.Count(stderr, "\n") != status || !strings.HasPrefix(stdout, `{"input":`) {
			t.Errorf("%q: status %d, %s%s", text, status, stdout, stderr)
		}
	})
}

// TestTableOfVastGame checks that commands that read a table fail with one line if its seal
// names a game that cannot be solved.
func TestTableOfVastGame(t *testing.T) {
	data := t.TempDir()
	dir := filepath.Join(data, table.Dir)
	must.OK(t, os.Mkdir(dir, 0o777))
	must.OK(t, (&store.Seal{Game: "network", Job: table.Dir}).Write(store.Local{}, dir))
	for _, name := range []string{"lookup --start", "stats", "verify", "verify --rules", "export"} {
		status, _, stderr := runLine(game.Kinds{network.Kind}, name+" --data "+data, "")
		if status != 1 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, dir+": network cannot be solved") {
			t.Errorf("%s: status %d, %s", name, status, stderr)
		}
	}
}

// TestControlCharacters checks that control characters of a line, a path or a file's name are
// escaped, so that they neither move the cursor nor break a line.
func TestControlCharacters(t *testing.T) {
	dirs := solved(t)
	odd := filepath.Join(t.TempDir(), "a\nb\x1b[2J")
	must.OK(t, os.Rename(dirs["mnk"], odd))
	for _, test := range []struct {
		words []string
		stdin string
	}{
		{[]string{"lookup", "--tsv", "--data", dirs["connectn"]}, "1\x1b[2J\x9b\r2\n"},
		{[]string{"lookup", "--data", dirs["connectn"]}, "1\x1b[2J\n"},
		{[]string{"lookup", "--start", "--data", odd + "c"}, ""},
		{[]string{"compare", odd, odd + "c"}, ""},
		{[]string{"compare", odd, dirs["connectn"]}, ""},
		{[]string{"compare", odd, odd}, ""},
	} {
		var out, errs strings.Builder
		Run(some(), append([]string{"driver"}, test.words...), strings.NewReader(test.stdin), &out, &errs)
		output := out.String() + errs.String()
		if strings.ContainsAny(output, "\x1b\u009b\r") || !utf8.ValidString(output) || strings.Contains(output, "a\nb") || output == "" {
			t.Errorf("%q: %q", test.words, output)
		}
	}
}
