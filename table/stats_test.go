package table

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/store"
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
	got, err := newTierStats(4, counts, xo)
	if err != nil {
		t.Fatal(err)
	}
	want := TierStats{
		Tier: 4, Positions: 36, XWins: 18, OWins: 11, Ties: 7, Finished: 12,
		Remoteness: []ValueCount{{"X wins", 0, 5}, {"tie", 0, 7}, {"O wins", 3, 11}, {"X wins", 63, 13}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}

	counts[game.NewValue(game.Undecided, 2)] = 1
	if _, err := newTierStats(4, counts, xo); err == nil || !strings.Contains(err.Error(), "tier 4 holds 1 positions of value byte 8") {
		t.Errorf("a position without a value: got error %v", err)
	}
}

// TestTableStats counts a table in which each tier contains one position.
func TestTableStats(t *testing.T) {
	g, err := connectn.New(1, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, Dir), 0o777); err != nil {
		t.Fatal(err)
	}
	p := g.Start()
	for tier := range 3 {
		writeTier(t, g, filepath.Join(dir, TierFile(g, tier)), p, game.NewValue(game.Tie, 2-tier))
		for _, m := range g.Moves(nil, p) {
			p = m.To
		}
	}
	if err := Seal(store.Local{}, dir, g.Spec()); err != nil {
		t.Fatal(err)
	}
	table, err := OpenFS(store.Local{}, dir, all.Kinds().Parse)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	got, err := table.Stats()
	if err != nil {
		t.Fatal(err)
	}
	want := Stats{
		Game: g.Spec(), Positions: 3, Value: "tie in 2", ValueByte: game.NewValue(game.Tie, 2), unit: "pieces on the board",
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
	var packed streamfmt.Packed
	packed.Add(&b)

	var file bytes.Buffer
	w, err := streamfmt.NewWriter(&file, g.Spec(), tier)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(&packed), w.Close(), os.WriteFile(name, file.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
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
	if err := example.WriteTable(&got); err != nil {
		t.Fatal(err)
	}
	if got.String() != want[1:] {
		t.Errorf("got\n%s\nwant%s", got.String(), want)
	}
}

func TestWriteJSON(t *testing.T) {
	var text bytes.Buffer
	if err := example.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`  "value": "X wins in 11",`, `  "value_byte": 46,`, `      "x_wins": 1000000,`, `      "remoteness": []`,
	} {
		if !strings.Contains(text.String(), "\n"+want) {
			t.Errorf("no line begins with %s in\n%s", want, text.String())
		}
	}
	var got Stats
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, example) {
		t.Errorf("got  %+v\nwant %+v", got, example)
	}
}

// picture is the part of an SVG that the tests check.
type picture struct {
	XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
	ViewBox string   `xml:"viewBox,attr"`
	Title   string   `xml:"title"`
	Texts   []string `xml:"text"`
	Tiers   []struct {
		Class string `xml:"class,attr"`
		Title string `xml:"title"`
		Rects []rect `xml:"rect"`
	} `xml:"g"`
}

type rect struct {
	X      float64 `xml:"x,attr"`
	Y      float64 `xml:"y,attr"`
	Width  float64 `xml:"width,attr"`
	Height float64 `xml:"height,attr"`
	Fill   string  `xml:"fill,attr"`
}

// draw writes s as SVG, and parses that.
func draw(t *testing.T, s Stats) picture {
	t.Helper()
	var text bytes.Buffer
	if err := s.WriteSVG(&text); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := s.WriteSVG(&again); err != nil || again.String() != text.String() {
		t.Errorf("written again it differs, error %v", err)
	}
	var p picture
	d := xml.NewDecoder(&text)
	if err := d.Decode(&p); err != nil {
		t.Fatal(err)
	}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, space := token.(xml.CharData); !space {
			t.Fatalf("%v follows the picture", token)
		}
	}
	if len(p.Tiers) != len(s.Tiers) {
		t.Fatalf("%d groups for %d tiers", len(p.Tiers), len(s.Tiers))
	}
	for i, g := range p.Tiers {
		if want := s.describe(s.Tiers[i]); g.Class != "tier" || g.Title != want {
			t.Errorf("group %d is class %q with title %q, want tier with %q", i, g.Class, g.Title, want)
		}
		for _, r := range g.Rects {
			inside := r.X >= plotLeft && r.X+r.Width <= plotLeft+plotWidth+0.01 && r.Y >= shareBottom-panelHeight-0.01 &&
				r.Y+r.Height <= countBottom+0.01
			if !inside || r.Width <= 0 || r.Height < 0 {
				t.Errorf("tier %d: %+v is not within the panels", i, r)
			}
		}
	}
	return p
}

func TestWriteSVG(t *testing.T) {
	p := draw(t, example)
	if p.ViewBox != "0 0 960 660" {
		t.Errorf("viewBox %q", p.ViewBox)
	}
	if want := `<game> & "spec": X wins in 11`; p.Title != want || p.Texts[0] != want {
		t.Errorf("titles %q and %q, want %q", p.Title, p.Texts[0], want)
	}
	texts := strings.Join(p.Texts, "\n")
	for _, want := range []string{
		"Positions that play can reach: 1,234,572 in all, 1,234,567 in the largest tier (2)",
		"X wins\nO wins\ntie\n0%\n25%\n50%\n75%\n100%\n1\n10\n100\n1k\n10k\n100k\n1M\n10M\n0\n0\n1\n1\n2\n2\n3\n3",
	} {
		if !strings.Contains(texts, want) {
			t.Errorf("the texts lack %q:\n%s", want, texts)
		}
	}

	const title = "tier 2\npositions: 1,234,567\nX wins: 1,000,000 (81.0%)\nO wins: 234,000 (19.0%)\ntie: 567 (0.0%)\nfinished: 1,000 (0.1%)"
	if p.Tiers[2].Title != title {
		t.Errorf("title %q, want %q", p.Tiers[2].Title, title)
	}
	// The first rectangle of a tier is the column for the pointer.
	var got []string
	for _, r := range p.Tiers[1].Rects[1:4] {
		got = append(got, r.Fill+" "+strconv.FormatFloat(r.Height/panelHeight, 'f', 4, 64))
	}
	if want := []string{xColour + " 0.2500", oColour + " 0.2500", tieColour + " 0.5000"}; !reflect.DeepEqual(got, want) {
		t.Errorf("bar of tier 1: %q, want %q", got, want)
	}
	if n := len(p.Tiers[3].Rects); n != 1 {
		t.Errorf("tier 3 has no position, but %d rectangles besides its column", n-1)
	}
	small, large := p.Tiers[0].Rects, p.Tiers[2].Rects
	if h := small[len(small)-1].Height; h < 2 {
		t.Errorf("a single position has a bar of height %g", h)
	}
	if h := large[len(large)-1].Height; h < panelHeight/2 || h > panelHeight {
		t.Errorf("the largest tier has a bar of height %g in a panel of %d", h, panelHeight)
	}
}

// TestWriteSVGDecades checks that the logarithmic axis ends at the first power of ten that no
// tier exceeds.
func TestWriteSVGDecades(t *testing.T) {
	for most, want := range map[uint64]string{
		0: "10", 1: "10", 10: "10", 11: "100", 1000: "1k", 1001: "10k", 1_000_000: "1M", 1<<64 - 1: "100E",
	} {
		p := draw(t, Stats{Tiers: []TierStats{{Positions: most, Ties: most}}})
		last := len(p.Texts) - 3 // before the two tier numbers
		if p.Texts[last] != want {
			t.Errorf("%d positions: the axis ends at %s, want %s", most, p.Texts[last], want)
		}
	}
}

func TestWriteSVGTiers(t *testing.T) {
	for _, n := range []int{0, 1, 2, 43, 64} {
		s := Stats{Game: "many"}
		for tier := range n {
			s.Tiers = append(s.Tiers, TierStats{Tier: tier, Positions: 1 << tier, OWins: 1 << tier})
		}
		p := draw(t, s)
		for i := 1; i < n; i++ {
			a, b := p.Tiers[i-1].Rects, p.Tiers[i].Rects
			if a[1].X+a[1].Width >= b[1].X {
				t.Errorf("%d tiers: the bars of %d and %d meet", n, i-1, i)
			}
			if a[2].Height >= b[2].Height {
				t.Errorf("%d tiers: %d has more positions than %d, but no higher bar", n, i, i-1)
			}
		}
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
