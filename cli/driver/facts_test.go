//go:build linux && !race

package driver_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestLongQuickCross4x4 solves two games on a 4×4 board and checks the value, the number of
// positions with images, and the histogram by remoteness, against the results of
// independently written programs.
func TestLongQuickCross4x4(t *testing.T) {
	longtest.Skip(t)
	for _, test := range []struct {
		connect         string
		positions, draw uint64
		histogram       string // by remoteness; even ones are lost, odd ones won
	}{
		{"3", 28999497, 1867, "[18810160 10177062 1134 3656 1536 2920 660 462 24 16]"},
		{"4", 42658929, 4844977, "[8840492 28505844 1606 18800 13184 105200 20024 141808 14992 111232 4450 31616 608 4096]"},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		spec := "quickcross width=4 height=4 connect=" + test.connect
		out, err := onData(strings.Fields("solve quickcross --width 4 --height 4 --final no --connect "+test.connect), dir).Output() // stderr has the progress of a long run
		if err != nil || !strings.HasPrefix(string(out), fmt.Sprintf("Quick Cross of %s on 4×4: a draw, play never ends\n", test.connect)) {
			t.Fatalf("%s: %v: %s", spec, err, out)
		}
		out = must.Get(exec.Command("driver", "stats", "--json", "--images", "--data", dir).Output())(t)
		var s struct {
			Game, Value                               string
			Positions, Lose, Win, Tie, Draw, Finished uint64
			Remoteness                                []struct {
				Remoteness     int
				Lose, Win, Tie uint64
			}
		}
		must.OK(t, json.Unmarshal(out, &s))
		var histogram []uint64
		var lose, win uint64
		for i, r := range s.Remoteness {
			histogram = append(histogram, r.Lose+r.Win)
			lose, win = lose+r.Lose, win+r.Win
			if r.Remoteness != i || r.Tie > 0 || i%2 == 0 && r.Win > 0 || i%2 == 1 && r.Lose > 0 {
				t.Errorf("%s: %+v", spec, r)
			}
		}
		if s.Game != spec || s.Value != "DRAW" || s.Positions != test.positions || s.Draw != test.draw ||
			fmt.Sprint(histogram) != test.histogram || s.Finished != histogram[0] ||
			s.Lose != lose || s.Win != win || s.Tie != 0 || lose+win+s.Draw != s.Positions {
			t.Errorf("%+v, want %+v", s, test)
		}
	}
}

// TestLongVerify5x5 checks 100,000 positions of a large board against the rules.
func TestLongVerify5x5(t *testing.T) {
	longtest.Skip(t)
	dir := filepath.Join(t.TempDir(), "d")
	drive(t, strings.Fields("solve connectn --width 5 --height 5 --connect 4 --final no"), dir)
	out, err := exec.Command("driver", "verify", "--data", dir, "--seed=1", "--rules", "100000").Output()
	if want := "connectn width=5 height=5 connect=4: 100,000 of 69,763,700 positions verified by the rules, all correct (seed 1)\n"; err != nil || string(out) != want {
		t.Errorf("%v, %q; want %q", err, out, want)
	}
}

// TestLongMancala solves boards of Mancala and checks the sign of the value, and of each first
// move, against the results of an independently written program.
func TestLongMancala(t *testing.T) {
	longtest.Skip(t)
	sign := func(text string) string {
		switch {
		case strings.HasPrefix(text, "win"):
			return "+"
		case strings.HasPrefix(text, "lose"):
			return "-"
		}
		return "0"
	}
	for board, want := range map[string]string{ // the value, then one sign for each first move
		"1 2": "- -", "1 3": "+ +",
		"2 1": "+ -+", "2 4": "- --", "2 5": "+ ++", "2 9": "0 0-",
		"3 1": "0 -00", "3 3": "0 --0", "3 4": "+ 0+-", "3 6": "- ---",
		"4 2": "+ --+0", "4 3": "0 000-", "4 4": "0 0--0",
		"5 2": "+ ---+-", "6 1": "+ -00--+",
	} {
		pits, stones, _ := strings.Cut(board, " ")
		dir := filepath.Join(t.TempDir(), "d")
		drive(t, strings.Fields("solve mancala --final no --pits "+pits+" --stones "+stones), dir)
		out, err := exec.Command("driver", "lookup", "--tsv", "--start", "--data", dir).Output()
		must.OK(t, err)
		fields := strings.Split(strings.TrimSpace("0"+string(out)), "\t")
		first := make(map[string]string)
		for _, m := range strings.Fields(fields[5]) {
			move, value, _ := strings.Cut(m, ":")
			first[move] = sign(value)
		}
		got := sign(fields[3]) + " "
		for _, move := range slices.Sorted(maps.Keys(first)) {
			got += first[move]
		}
		if got != want {
			t.Errorf("mancala %s: %s, want %s\n%s", board, got, want, out)
		}
		must.OK(t, os.RemoveAll(dir))
	}
}

// TestLongCycles solves games with cycles, and checks the value, the number of positions by outcome and the largest remoteness
// against published figures and those of independently written programs, which docs/notes/games.md names. Dobutsu shogi
// takes eight minutes of CPU, and 8 GB of disk.
func TestLongCycles(t *testing.T) {
	longtest.SkipShare(t)
	for solve, want := range map[string]struct {
		value    string
		outcomes map[string]uint64
		longest  int
	}{
		"dobutsu":                  {"LOSE in 78", map[string]uint64{"WIN": 56_474_473 + 140_298_614, "LOSE": 40_328_395 + 7_018_985, "DRAW": 2_682_700}, 173},
		"mills --men 7":            {"WIN in 25", map[string]uint64{"WIN": 13_203_235, "LOSE": 8_792_253, "DRAW": 377_836}, 70},
		"quixo --size 4":           {"WIN in 21", nil, 22},
		"teeko":                    {"DRAW", nil, 39},
		"teeko --variant advanced": {"WIN in 13", nil, 60},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		drive(t, strings.Fields("solve "+solve+" --final no"), dir)
		var s struct{ Value string }
		must.OK(t, json.Unmarshal(must.Get(exec.Command("driver", "stats", "--json", "--data", dir).Output())(t), &s))
		lines := must.Get(csv.NewReader(bytes.NewReader(must.Get(exec.Command("driver", "stats", "--csv", "--data", dir).Output())(t))).ReadAll())(t)
		longest, outcomes := 0, map[string]uint64{}
		for _, line := range lines[1:] {
			of := line[len(line)-3:] // without the tier
			n, _ := strconv.Atoi(of[1])
			longest = max(longest, n)
			if n := must.Get(strconv.ParseUint(of[2], 10, 64))(t); n > 0 {
				outcomes[of[0]] += n
			}
		}
		if s.Value != want.value || longest != want.longest || want.outcomes != nil && !maps.Equal(outcomes, want.outcomes) {
			t.Errorf("%s: %s, %v, longest %d; want %+v", solve, s.Value, outcomes, longest, want)
		}
		must.OK(t, os.RemoveAll(dir))
	}
}
