package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/streamfmt"
)

// example has arbitrary numbers, which are not those of any game.
var example = Stats{
	Game:      `<game> & "spec"`,
	Positions: 1_234_572,
	Value:     "X wins in 11",
	value:     game.NewValue(game.FirstWins, 11),
	Rows: []Row{
		{0, game.FirstWins, 11, 1},
		{1, game.SecondWins, 9, 1}, {1, game.FirstWins, 10, 1}, {1, game.Tie, 10, 2},
		{2, game.FirstWins, 0, 1000}, {2, game.SecondWins, 1, 234_000}, {2, game.FirstWins, 1, 999_000}, {2, game.Tie, 1, 567},
	},
	stored: make([]uint64, 4), // the last tier has no position
	values: game.Values{Players: [2]string{"X", "O"}},
}

// TestTableStats counts a table in which each tier contains one position.
func TestTableStats(t *testing.T) {
	g := must.Get(connectn.New(1, 2, 2))(t)
	dir := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(dir, Dir), 0o777))
	p := g.Start()
	for tier := range 3 {
		writeTier(t, g, filepath.Join(dir, TierFile(tier)), p, game.NewValue(game.Tie, 2-tier))
		for _, m := range g.Moves(nil, p) {
			p = m.To
		}
	}
	must.OK(t, Seal(store.Local{}, dir, g.Spec()))
	table := must.Get(OpenFS(store.Local{}, dir, all.Kinds().Parse))(t)
	defer table.Close()
	got := must.Get(table.Stats())(t)
	want := Stats{
		Game: g.Spec(), Positions: 3, Bytes: bytesOf(t, filepath.Join(dir, Dir)), Value: "tie in 2", value: game.NewValue(game.Tie, 2),
		Rows:   []Row{{0, game.Tie, 2, 1}, {1, game.Tie, 1, 1}, {2, game.Tie, 0, 1}},
		stored: make([]uint64, 3), values: g.Values(), title: "Connect 2 on 1×2", unit: "pieces on the board",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// bytesOf returns the size of the tiers in a directory.
func bytesOf(t *testing.T, dir string) (n int64) {
	t.Helper()
	for _, name := range must.Get(filepath.Glob(filepath.Join(dir, "tier-*")))(t) {
		n += must.Get(os.Stat(name))(t).Size()
	}
	return n
}

// TestNoValue checks that a tier with a value that no position has is refused.
func TestNoValue(t *testing.T) {
	g := must.Get(connectn.New(1, 2, 2))(t)
	if err := (&Stats{Game: g.Spec()}).add(4, Counts{5: 7, 8: 1}); err == nil || !strings.Contains(err.Error(), "tier 4 has 1 positions of value byte 8") {
		t.Errorf("a position without a value: got error %v", err)
	}
}

// writeTier writes a tier of one position.
func writeTier(t *testing.T, g game.Blockwise, name string, p game.Position, v game.Value) {
	t.Helper()
	var b block.Block
	rng, tier := p>>g.LowBits(), g.Tier(p)
	b.Reset(tier, rng, g.LowBits(), g.Low(tier, rng))
	slot, ok := b.Slot(uint32(p-rng<<g.LowBits()), 0)
	if !ok {
		t.Fatalf("tier %d has no slot for %#x", tier, p)
	}
	b.Done.Add(slot)
	b.Val[slot] = uint8(v)
	var packed streamfmt.Packer
	packed.Add(&b)

	var file bytes.Buffer
	w := streamfmt.NewWriter(&file, g.Spec(), streamfmt.Blocks, nil)
	must.OK(t, errors.Join(w.Append(&packed), w.Close(), os.WriteFile(name, file.Bytes(), 0o666)))
}

func TestWriteTable(t *testing.T) {
	const want = `
   tier  positions     X wins   share   O wins  share  ties  share  finished
      0          1          1  100.0%        0   0.0%     0   0.0%         0
      1          4          1   25.0%        1  25.0%     2  50.0%         0
      2  1,234,567  1,000,000   81.0%  234,000  19.0%   567   0.0%     1,000
      3          0          0       -        0      -     0      -         0
  total  1,234,572  1,000,002   81.0%  234,001  19.0%   569   0.0%     1,000
`
	var got bytes.Buffer
	must.OK(t, example.WriteTable(&got))
	if got.String() != want[1:] {
		t.Errorf("got\n%s\nwant%s", got.String(), want)
	}
}

func TestWriteJSON(t *testing.T) {
	const want = `{"game":"\u003cgame\u003e \u0026 \"spec\"","positions":1234572,"value":"X wins in 11","value_byte":46,"tiers":[
{"tier":0,"positions":1,"x_wins":1,"o_wins":0,"ties":0,"finished":0,"remoteness":[{"outcome":"X wins","remoteness":11,"positions":1}]},
{"tier":1,"positions":4,"x_wins":1,"o_wins":1,"ties":2,"finished":0,"remoteness":[
{"outcome":"O wins","remoteness":9,"positions":1},{"outcome":"X wins","remoteness":10,"positions":1},{"outcome":"tie","remoteness":10,"positions":2}]},
{"tier":2,"positions":1234567,"x_wins":1000000,"o_wins":234000,"ties":567,"finished":1000,"remoteness":[
{"outcome":"X wins","remoteness":0,"positions":1000},{"outcome":"O wins","remoteness":1,"positions":234000},
{"outcome":"X wins","remoteness":1,"positions":999000},{"outcome":"tie","remoteness":1,"positions":567}]},
{"tier":3,"positions":0,"x_wins":0,"o_wins":0,"ties":0,"finished":0,"remoteness":[]}]}`
	var text, compact bytes.Buffer
	must.OK(t, example.WriteJSON(&text))
	must.OK(t, json.Compact(&compact, text.Bytes()))
	if got := compact.String(); got != strings.ReplaceAll(want, "\n", "") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !strings.HasPrefix(text.String(), "{\n  \"game\": ") {
		t.Errorf("it is not indented: %.100s", text.String())
	}
}

// TestCyclic checks the statistics of a game without tiers, in which no position has two moves to the end, and of a puzzle.
func TestCyclic(t *testing.T) {
	s := Stats{Game: "g", Positions: 21, Value: "DRAW", Bytes: 10, noTiers: true, draws: true, folded: true, values: game.Values{OfMover: true}, Rows: []Row{
		{0, game.Outcome(game.Loses), 0, 2}, {0, game.Tie, 0, 3}, {0, game.Outcome(game.Wins), 1, 4}, {0, game.Outcome(game.Wins), 3, 1}, {0, game.Undecided, NoEnd, 11},
	}}
	const (
		table = `
  moves to the end  positions   share  LOSE  WIN  TIE  DRAW
                 0          5   23.8%     2    0    3     0
                 1          4   19.0%     0    4    0     0
                 2          0    0.0%     0    0    0     0
                 3          1    4.8%     0    1    0     0
            no end         11   52.4%     0    0    0    11
             total         21  100.0%     2    5    3    11
table: 10 B, 3.81 bits a position; of each position and its images, one is counted
`
		puzzle = `
  moves to solve  positions   share
               0          5   23.8%
               1          4   19.0%
               2          0    0.0%
               3          1    4.8%
      unsolvable         11   52.4%
           total         21  100.0%
table: 10 B, 3.81 bits a position; of each position and its images, one is counted
`
		csv  = "\noutcome,remoteness,positions\nLOSE,0,2\nTIE,0,3\nWIN,1,4\nWIN,3,1\nDRAW,,11\n"
		keys = `
{"game":"g","positions":21,"canonical":true,"bytes":10,"value":"DRAW","bits_per_position":3.81,"lose":2,"win":5,"tie":3,"draw":11,"finished":5,"remoteness":[
{"remoteness":0,"lose":2,"win":0,"tie":3},{"remoteness":1,"lose":0,"win":4,"tie":0},{"remoteness":2,"lose":0,"win":0,"tie":0},
{"remoteness":3,"lose":0,"win":1,"tie":0}]}`
	)
	var got, text bytes.Buffer
	for _, test := range []struct {
		write func(io.Writer) error
		want  string
	}{{s.WriteTable, table}, {s.WriteCSV, csv}} {
		got.Reset()
		must.OK(t, test.write(&got))
		if got.String() != test.want[1:] {
			t.Errorf("got\n%s\nwant%s", got.String(), test.want)
		}
	}
	must.OK(t, s.WriteJSON(&text))
	got.Reset()
	must.OK(t, json.Compact(&got, text.Bytes()))
	if got.String() != strings.ReplaceAll(keys, "\n", "") {
		t.Errorf("got  %s\nwant %s", got.String(), keys)
	}
	got.Reset()
	s.values = game.Values{OfMover: true, Puzzle: true}
	must.OK(t, s.WriteTable(&got))
	if got.String() != puzzle[1:] {
		t.Errorf("got\n%s\nwant%s", got.String(), puzzle)
	}
}

// TestTiersWithLoops checks the statistics of a game with tiers in which play may not end.
func TestTiersWithLoops(t *testing.T) {
	s := Stats{Game: "g", Positions: 9, Value: "draw", draws: true, stored: make([]uint64, 2), values: game.Values{Players: [2]string{"A", "B"}}, Rows: []Row{
		{0, game.FirstWins, 7, 2}, {0, game.Undecided, NoEnd, 3}, {1, game.SecondWins, 0, 4},
	}}
	for want, write := range map[string]func(io.Writer) error{
		`
   tier  positions  A wins  share  B wins   share  ties  share  draws  share  finished
      0          5       2  40.0%       0    0.0%     0   0.0%      3  60.0%         0
      1          4       0   0.0%       4  100.0%     0   0.0%      0   0.0%         4
  total          9       2  22.2%       4   44.4%     0   0.0%      3  33.3%         4
`: s.WriteTable,
		"\ntier,outcome,remoteness,positions\n0,A wins,7,2\n0,draw,,3\n1,B wins,0,4\n": s.WriteCSV,
		`
{"game":"g","positions":9,"value":"draw","outcomes":["A wins","B wins","tie","draw"],"tiers":[{"tier":0,"positions":5,"x_wins":2,"o_wins":0,"ties":0,"draws":3,"finished":0,"remoteness":[{"outcome":"A wins","remoteness":7,"positions":2}]},{"tier":1,"positions":4,"x_wins":0,"o_wins":4,"ties":0,"draws":0,"finished":4,"remoteness":[{"outcome":"B wins","remoteness":0,"positions":4}]}]}`: func(w io.Writer) error {
			var text, compact bytes.Buffer
			err := errors.Join(s.WriteJSON(&text), json.Compact(&compact, text.Bytes()))
			w.Write(compact.Bytes())
			return err
		},
	} {
		var got bytes.Buffer
		must.OK(t, write(&got))
		if got.String() != want[1:] {
			t.Errorf("got\n%s\nwant\n%s", got.String(), want[1:])
		}
	}
	if panels := s.Columns().Panels[0].Series; len(panels) != 4 || panels[3].Name != "draw" || panels[3].Values[0] != 3 {
		t.Errorf("columns %+v", panels)
	}
	if panels := s.Heat().Panels; len(panels) != 3 {
		t.Errorf("%d heat maps, want those of wins and ties", len(panels))
	}
}

// TestUnsolved checks the statistics of a run that has not solved its game.
func TestUnsolved(t *testing.T) {
	s := Stats{Game: "g", Rows: []Row{{0, game.Undecided, NoEnd, 1}, {2, game.Undecided, 0, 1000}, {2, game.Undecided, NoEnd, 500}}}
	for want, write := range map[string]func(io.Writer) error{
		"   tier  positions  finished\n      0          1         0\n      2      1,500     1,000\n  total      1,501     1,000\n": s.WriteTable,
		"tier,positions,finished\n0,1,0\n2,1500,1000\n": s.WriteCSV,
		"{\n  \"game\": \"g\",\n  \"solved\": false,\n  \"tiers\": [\n    {\n      \"tier\": 0,\n      \"positions\": 1,\n      \"finished\": 0\n    },\n    {\n      \"tier\": 2,\n      \"positions\": 1500,\n      \"finished\": 1000\n    }\n  ]\n}\n": s.WriteJSON,
	} {
		var got bytes.Buffer
		must.OK(t, write(&got))
		if got.String() != want {
			t.Errorf("got\n%s\nwant\n%s", got.String(), want)
		}
	}
}

// TestWriteSVG checks that the picture has the numbers of the statistics.
func TestWriteSVG(t *testing.T) {
	var text strings.Builder
	must.OK(t, example.WriteSVG(&text))
	for _, want := range []string{
		"<title>&lt;game&gt; &amp; &#34;spec&#34;: X wins in 11</title>",
		">Positions that play can reach: 1,234,572 in all, 1,234,567 in the largest tier (2)<",
		"<title>" + strings.ReplaceAll("tier 2\npositions: 1,234,567\nX wins: 1,000,000 (81.0%)\nO wins: 234,000 (19.0%)\ntie: 567 (0.0%)\nfinished: 1,000 (0.1%)", "\n", "&#xA;") + "</title>",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the picture lacks %q:\n%s", want, text.String())
		}
	}
	c := example.Columns()
	if n := strings.Count(text.String(), `<g class="tier">`); n != len(example.stored) || len(c.Names) != n {
		t.Errorf("%d columns for %d tiers", n, len(example.stored))
	}
	for i, want := range [][4]float64{{1, 0, 0, 1}, {1, 1, 2, 4}, {1_000_000, 234_000, 567, 1_234_567}, {}} {
		by := c.Panels[0].Series
		if got := [4]float64{by[0].Values[i], by[1].Values[i], by[2].Values[i], c.Panels[1].Series[0].Values[i]}; got != want {
			t.Errorf("tier %d: %v positions, want %v", i, got, want)
		}
	}
	var cells []Row
	for i, p := range example.Heat().Panels {
		for _, cell := range p.Cells {
			cells = append(cells, Row{cell.X, [...]game.Outcome{game.FirstWins, game.SecondWins, game.Tie}[i], cell.Y, cell.N})
		}
	}
	for _, r := range example.Rows {
		if !slices.Contains(cells, r) {
			t.Errorf("the heat map lacks %+v", r)
		}
	}
	if len(cells) != len(example.Rows) {
		t.Errorf("%d cells, want %d", len(cells), len(example.Rows))
	}
}

// TestWriteError checks that a full disk is reported.
func TestWriteError(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"table": example.WriteTable, "JSON": example.WriteJSON, "SVG": example.WriteSVG,
	} {
		r, w := io.Pipe()
		r.Close()
		if err := write(w); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: got error %v, want %v", name, err, io.ErrClosedPipe)
		}
	}
}
