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
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

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

// TestLongPublished solves games, and checks the value, the number of positions by outcome, those by remoteness, which are lost if
// it is even and won if it is odd, and the largest remoteness against published figures and those of independently written
// programs, which docs/notes/games.md names. Dobutsu shogi takes eight minutes of CPU, and 8 GB of disk.
func TestLongPublished(t *testing.T) {
	longtest.SkipShare(t)
	for solve, want := range map[string]struct {
		value     string // its beginning
		outcomes  map[string]uint64
		longest   int
		histogram string
	}{
		"dobutsu":                  {"LOSE in 78", map[string]uint64{"WIN": 56_474_473 + 140_298_614, "LOSE": 40_328_395 + 7_018_985, "DRAW": 2_682_700}, 173, ""},
		"mills --men 7":            {"WIN in 25", map[string]uint64{"WIN": 13_203_235, "LOSE": 8_792_253, "DRAW": 377_836}, 70, ""},
		"quixo --size 4":           {"WIN in 21", nil, 22, ""},
		"teeko":                    {"DRAW", nil, 39, ""},
		"teeko --variant advanced": {"WIN in 13", nil, 60, ""},
		"quickcross --width 4 --height 4 --connect 3": {"DRAW", map[string]uint64{"LOSE": 18_813_514, "WIN": 10_184_116, "DRAW": 1867}, 9,
			"[18810160 10177062 1134 3656 1536 2920 660 462 24 16]"},
		"quickcross --width 4 --height 4 --connect 4": {"DRAW", map[string]uint64{"LOSE": 8_895_356, "WIN": 28_918_596, "DRAW": 4_844_977}, 13,
			"[8840492 28505844 1606 18800 13184 105200 20024 141808 14992 111232 4450 31616 608 4096]"},
		"mancala --pits 3 --stones 6": {"row 1 wins", nil, 0, ""},
		"mancala --pits 4 --stones 4": {"tie", nil, 0, ""},
		"mancala --pits 5 --stones 2": {"row 0 wins", nil, 0, ""},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		drive(t, strings.Fields("solve "+solve+" --final no"), dir)
		var s struct{ Value string }
		must.OK(t, json.Unmarshal(must.Get(exec.Command("driver", "stats", "--json", "--data", dir).Output())(t), &s))
		stats := exec.Command("driver", "stats", "--csv", "--data", dir)
		if want.histogram != "" { // the figures are of all images
			stats.Args = append(stats.Args, "--images")
		}
		lines := must.Get(csv.NewReader(bytes.NewReader(must.Get(stats.Output())(t))).ReadAll())(t)
		longest, outcomes, histogram := 0, map[string]uint64{}, make([]uint64, want.longest+1)
		for _, line := range lines[1:] {
			of := line[len(line)-3:] // without the tier
			remoteness, _ := strconv.Atoi(of[1])
			longest = max(longest, remoteness)
			n := must.Get(strconv.ParseUint(of[2], 10, 64))(t)
			if n > 0 {
				outcomes[of[0]] += n
			}
			if of[0] != "DRAW" && remoteness < len(histogram) {
				histogram[remoteness] += n
			}
		}
		if !strings.HasPrefix(s.Value, want.value) || want.longest > 0 && longest != want.longest || want.outcomes != nil && !maps.Equal(outcomes, want.outcomes) ||
			want.histogram != "" && fmt.Sprint(histogram) != want.histogram {
			t.Errorf("%s: %s, %v, longest %d, %v; want %+v", solve, s.Value, outcomes, longest, histogram, want)
		}
		must.OK(t, os.RemoveAll(dir))
	}
}
