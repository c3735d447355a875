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
	ValueByte: game.NewValue(game.FirstWins, 11),
	Tiers: []TierStats{
		{Tier: 0, Positions: 1, XWins: 1, Remoteness: []ValueCount{{"X wins", 11, 1}}},
		{Tier: 1, Positions: 4, XWins: 1, OWins: 1, Ties: 2, Remoteness: []ValueCount{
			{"O wins", 9, 1}, {"X wins", 10, 1}, {"tie", 10, 2},
		}},
		{Tier: 2, Positions: 1_234_567, XWins: 1_000_000, OWins: 234_000, Ties: 567, Finished: 1000, Remoteness: []ValueCount{
			{"X wins", 0, 1000}, {"O wins", 1, 234_000}, {"X wins", 1, 999_000}, {"tie", 1, 567},
		}},
		{Tier: 3, Remoteness: []ValueCount{}},
	},
}

var xo = game.Values{Players: [2]string{"X", "O"}}

func TestTierStats(t *testing.T) {
	counts := make(Counts)
	counts[game.NewValue(game.FirstWins, 0)] = 5
	counts[game.NewValue(game.Tie, 0)] = 7
	counts[game.NewValue(game.SecondWins, 3)] = 11
	counts[game.NewValue(game.FirstWins, game.MaxByteRemoteness)] = 13
	got := must.Get(newTierStats(4, counts, xo))(t)
	want := TierStats{
		Tier: 4, Positions: 36, XWins: 18, OWins: 11, Ties: 7, Finished: 12,
		Remoteness: []ValueCount{{"X wins", 0, 5}, {"tie", 0, 7}, {"O wins", 3, 11}, {"X wins", 63, 13}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}

	counts[game.NewValue(game.Undecided, 2)] = 1
	if _, err := newTierStats(4, counts, xo); err == nil || !strings.Contains(err.Error(), "tier 4 has 1 positions of value byte 8") {
		t.Errorf("a position without a value: got error %v", err)
	}
}

// TestTableStats counts a table in which each tier contains one position.
func TestTableStats(t *testing.T) {
	g := must.Get(connectn.New(1, 2, 2))(t)
	dir := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(dir, Dir), 0o777))
	p := g.Start()
	for tier := range 3 {
		writeTier(t, g, filepath.Join(dir, TierFile(g, tier)), p, game.NewValue(game.Tie, 2-tier))
		for _, m := range g.Moves(nil, p) {
			p = m.To
		}
	}
	must.OK(t, Seal(store.Local{}, dir, g.Spec()))
	table := must.Get(OpenFS(store.Local{}, dir, all.Kinds().Parse))(t)
	defer table.Close()
	got := must.Get(table.Stats())(t)
	want := Stats{
		Game: g.Spec(), Positions: 3, Value: "tie in 2", ValueByte: game.NewValue(game.Tie, 2), title: "Connect 2 on 1×2", unit: "pieces on the board",
		Tiers: []TierStats{
			{Tier: 0, Positions: 1, Ties: 1, Remoteness: []ValueCount{{"tie", 2, 1}}},
			{Tier: 1, Positions: 1, Ties: 1, Remoteness: []ValueCount{{"tie", 1, 1}}},
			{Tier: 2, Positions: 1, Ties: 1, Finished: 1, Remoteness: []ValueCount{{"tie", 0, 1}}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// writeTier writes a tier of one position.
func writeTier(t *testing.T, g game.Tiered, name string, p game.Position, v game.Value) {
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
	w := must.Get(streamfmt.NewWriter(&file, g.Spec(), tier))(t)
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
	var text bytes.Buffer
	must.OK(t, example.WriteJSON(&text))
	for _, want := range []string{
		`  "value": "X wins in 11",`, `  "value_byte": 46,`, `      "x_wins": 1000000,`, `      "remoteness": []`,
	} {
		if !strings.Contains(text.String(), "\n"+want) {
			t.Errorf("no line begins with %s in\n%s", want, text.String())
		}
	}
	var got Stats
	must.OK(t, json.Unmarshal(text.Bytes(), &got))
	if !reflect.DeepEqual(got, example) {
		t.Errorf("got  %+v\nwant %+v", got, example)
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
	if n := strings.Count(text.String(), `<g class="tier">`); n != len(example.Tiers) || len(c.Names) != n {
		t.Errorf("%d columns for %d tiers", n, len(example.Tiers))
	}
	for i, tier := range example.Tiers {
		for j, want := range []uint64{tier.XWins, tier.OWins, tier.Ties} {
			if got := c.Panels[0].Series[j].Values[i]; got != float64(want) {
				t.Errorf("tier %d, outcome %d: %v positions, want %d", i, j, got, want)
			}
		}
		if got := c.Panels[1].Series[0].Values[i]; got != float64(tier.Positions) {
			t.Errorf("tier %d: %v positions, want %d", i, got, tier.Positions)
		}
	}
	cells := 0
	for i, p := range example.Heat().Panels {
		for _, cell := range p.Cells {
			cells++
			if want := (ValueCount{defaultWords[i], cell.Y, cell.N}); !slices.Contains(example.Tiers[cell.X].Remoteness, want) {
				t.Errorf("the heat map has %+v in tier %d", want, cell.X)
			}
		}
	}
	want := 0
	for _, tier := range example.Tiers {
		want += len(tier.Remoteness)
	}
	if cells != want {
		t.Errorf("%d cells, want %d", cells, want)
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
