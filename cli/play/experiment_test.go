package play

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
)

// TestExperiment checks that, on a fixed board, the experiment counts the board's positions,
// and that the sentences contain the numbers of the table.
func TestExperiment(t *testing.T) {
	output := runs(t, "experiment memo --width 3 --height 4", "")
	want := regexp.MustCompile(` +TIME`).ReplaceAllLiteralString(regexp.QuoteMeta(`connectn width=3 height=4 connect=3: tie in 12, best move 0

  chains   game  first move     positions     look-ups    mean chain
no table  first        TIME        26,195            0             -
no table  later        TIME        26,195            0             -
      10  first        TIME         2,715        3,715        271.50
      10  later        TIME             0            1        271.50
   1,000  first        TIME         2,715        3,715          2.71
   1,000  later        TIME             0            1          2.71
 100,000  first        TIME         2,715        3,715          0.03
 100,000  later        TIME             0            1          0.03
`), ` +[0-9.]+ (µs|ms|s)`)
	if !regexp.MustCompile("^" + want + "$").MatchString(output) {
		t.Errorf("%s\nwant\n%s", output, want)
	}

	var m struct {
		Game, Value, Best string
		First             []firstMove `json:"first_moves"`
	}
	if err := json.Unmarshal([]byte(runs(t, "experiment memo --json --width 3 --height 4", "")), &m); err != nil {
		t.Fatal(err)
	}
	if m.Game != "connectn width=3 height=4 connect=3" || m.Value != "tie in 12" || m.Best != "0" || len(m.First) != 8 {
		t.Errorf("%+v", m)
	}
	for i, f := range m.First {
		if f.Chains != experimentChains[i/2] || f.Game != 1+i%2 || f.Seconds <= 0 || (f.Lookups > 0) != (f.Chains > 0) || f.Compared+f.Positions < f.Lookups {
			t.Errorf("%d: %+v", i, f)
		}
	}
}

// TestExperimentBoard checks that the experiment uses the first board that takes long enough,
// or else the last one.
func TestExperimentBoard(t *testing.T) {
	var boards []game.Acyclic
	for _, b := range [][3]int{{2, 2, 2}, {3, 4, 3}, {4, 3, 3}, {2, 3, 2}} {
		g, err := connectn.New(b[0], b[1], b[2])
		if err != nil {
			t.Fatal(err)
		}
		boards = append(boards, g)
	}
	for enough, want := range map[time.Duration]int{0: 0, time.Hour: 3} {
		if g, _, all, err := measure(t.Context(), boards, enough); err != nil || g != boards[want] || len(all) != 8 {
			t.Errorf("%v: %v, %v, want board %d", enough, g, err, want)
		}
	}
	// 13 positions take microseconds; a quarter of a million take more than 5 ms.
	if g, _, _, err := measure(t.Context(), boards, 5*time.Millisecond); err != nil || g == boards[3] {
		t.Errorf("%v, %v: 4×3 takes more than 5 ms", g, err)
	}
}

func TestExperimentRefuses(t *testing.T) {
	refused(t, map[string]string{
		"experiment":                  "expected an experiment: memo",
		"experiment luck":             `unknown experiment "luck", expected memo`,
		"experiment memo 3":           `unexpected argument "3"`,
		"experiment memo --connect 4": "connectn: connect 4 is longer than both sides of a board of 3×3",
	})
}
