package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/testing/openapi"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// newClient returns a client of a server of tables.
func newClient(t testing.TB, tables ...*table.Table) openapi.Client {
	t.Helper()
	o := Options{Games: all.Kinds(), Searches: 1, Memory: 8 << 20, AllowOrigin: "*"}
	for _, tab := range tables {
		o.Sources = append(o.Sources, Source{Table: tab})
	}
	return openapi.New(t, must.Get(New(o))(t).Handler())
}

// opposite is the value for the other player.
var opposite = map[string]string{"win": "lose", "lose": "win", "tie": "tie", "draw": "draw", "unsolved": "unsolved"}

// accepts checks an answer by the rules of GamesmanUni and its server.
func accepts(t *testing.T, variant apiVariant, got apiPosition) {
	t.Helper()
	text, _ := json.Marshal(got)
	fail := func(format string, args ...any) { t.Errorf("%s: %s", fmt.Sprintf(format, args...), text) }
	buttons := map[string]bool{}
	by := map[string][]int{}
	for _, m := range got.Moves {
		by[m.MoveValue] = append(by[m.MoveValue], m.Remoteness)
	}
	rank := -1
	for i, m := range got.Moves {
		if buttons[m.AutoGUIMove] {
			fail("button %s occurs twice", m.AutoGUIMove)
		}
		buttons[m.AutoGUIMove] = true
		want := m.Value
		if m.AutoGUI[0] != got.AutoGUI[0] {
			want = opposite[want]
		}
		if m.MoveValue != want || m.AutoGUI[0] != m.Position[0] || len(m.AutoGUI) != len(got.AutoGUI) && !strings.Contains(got.AutoGUI, "~") {
			fail("move %s: moveValue, expected %s", m.Name, want)
		}
		delta := 0
		switch all := by[m.MoveValue]; {
		case slices.Contains(all, unknown): // not compared here
			delta = m.Delta
		case m.MoveValue == "win" || m.MoveValue == "tie":
			delta = m.Remoteness - slices.Min(all)
		case m.MoveValue == "lose":
			delta = slices.Max(all) - m.Remoteness
		case m.MoveValue == "draw" && m.Remoteness != infinite:
			fail("a draw of remoteness %d", m.Remoteness)
		}
		if m.Delta != delta {
			fail("move %s: deltaRemoteness, expected %d", m.Name, delta)
		}
		order := slices.Index([]string{"win", "tie", "draw", "lose", "unsolved"}, m.MoveValue)
		if order < rank || order == rank && m.Delta < got.Moves[i-1].Delta {
			fail("move %s is out of order", m.Name)
		}
		rank = order
		if variant.Images != nil { // every center exists
			parts := strings.Split(m.AutoGUIMove, "_")
			for _, part := range parts[1:] {
				if n, err := strconv.Atoi(part); err == nil && n >= len(variant.Images.Themes["regular"].Centers) {
					fail("move %s: button %s, but there are %d centers", m.Name, m.AutoGUIMove, len(variant.Images.Themes["regular"].Centers))
				}
			}
		}
	}
	if variant.Images != nil {
		theme := variant.Images.Themes[variant.Images.DefaultTheme]
		entities, _, _ := strings.Cut(got.AutoGUI[2:], "~")
		for i, c := range entities {
			if _, ok := theme.Images[string(c)]; !ok && c != '-' && (c != '.' || theme.TextSize == 0) {
				fail("there is no picture of entity %c", c)
			}
			if center := theme.Centers[i]; center[0] < 0 || center[0] > theme.Space[0] || center[1] < 0 || center[1] > theme.Space[1] {
				fail("entity %d lies outside", i)
			}
		}
	}
}

// agrees compares an answer with the table.
func agrees(t *testing.T, tab *table.Table, p game.Position, got apiPosition) {
	t.Helper()
	g := tab.Game()
	compare := func(p game.Position, place apiPlace) {
		t.Helper()
		v, ok, err := tab.Lookup(p)
		if err != nil || !ok {
			t.Fatal(err)
		}
		want := apiPlace{place.Position, place.AutoGUI, words[analysis.ResultOf(g, p, v)], v.Remoteness()}
		if want.Value == "draw" {
			want.Remoteness = infinite
		}
		if q, err := parseAt(g, place.Position); place != want || err != nil || q.p != p {
			t.Errorf("%s %q: %+v, want %+v; %v", g.Spec(), g.AppendText(nil, p), place, want, err)
		}
	}
	compare(p, got.apiPlace)
	moves := g.Moves(nil, p)
	if len(moves) != len(got.Moves) {
		t.Errorf("%s %q: %d moves, want %d", g.Spec(), g.AppendText(nil, p), len(got.Moves), len(moves))
	}
	for _, m := range moves {
		for _, found := range got.Moves {
			if found.Name == m.Name {
				compare(m.To, found.apiPlace)
			}
		}
	}
}

// A sampled is a game whose answers are compared with its table.
type sampled struct {
	spec   string
	random int // positions at the end of random plays; 0: all positions
}

// TestAPIPositions compares answers with tables: all positions of small boards, and random ones
// of others.
func TestAPIPositions(t *testing.T) {
	for _, test := range []sampled{
		{"connectn width=3 height=3 connect=3", 0},
		{"connectn width=4 height=4 connect=4", 1500},
		{"quickcross width=3 height=2 connect=3", 0},
		{"mancala pits=2 stones=2", 0},
		{"mnk width=3 height=3 connect=3", 300},
		{"dodgem size=3", 300},
		{"mills men=3", 300},
	} {
		test.compare(t)
	}
}

// TestLongAPIPositions is TestAPIPositions for larger boards.
func TestLongAPIPositions(t *testing.T) {
	longtest.Skip(t)
	for _, test := range []sampled{
		{"connectn width=4 height=4 connect=4", 0},
		{"connectn width=5 height=5 connect=4", 10_000},
		{"quickcross width=4 height=3 connect=3", 10_000},
		{"mancala pits=3 stones=3", 10_000},
	} {
		test.compare(t)
	}
}

// compare requests positions by the text of the game and by the strings of the interface.
func (test sampled) compare(t *testing.T) {
	t.Helper()
	g := solved.Game(t, test.spec)
	tab := solved.Table(t, g)
	c := newClient(t, tab)
	id, name := idOf(test.spec)
	path := id + "/" + name + "/"
	var variant apiVariant
	c.Get(path, "", &variant)
	check := func(p game.Position) {
		var got, again apiPosition
		if status := c.Get(path+"positions/", "p="+url.QueryEscape(string(g.AppendText(nil, p))), &got); status != 200 {
			t.Fatalf("%s %q: status %d", test.spec, g.AppendText(nil, p), status)
		}
		agrees(t, tab, p, got)
		accepts(t, variant, got)
		c.Get(path+"positions/", "p="+got.Position, &again) // not escaped: GamesmanUni does not escape it
		if fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("%s: %s is %+v, want %+v", test.spec, got.Position, again, got)
		}
	}
	n := 0
	if test.random == 0 {
		for batch, err := range tab.All() {
			must.OK(t, err)
			for _, p := range batch.Positions {
				check(p)
				n++
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range test.random {
		walk := gametest.Walk(r, g, r.IntN(25))
		check(walk[len(walk)-1])
	}
	if all, err := tab.Positions(); err != nil || test.random == 0 && uint64(n) != all {
		t.Errorf("%s: %d positions of %d, %v", test.spec, n, all, err)
	}
	if start, err := parseAt(g, variant.Start); err != nil || start.p != g.Start() || variant.AutoGUIStart != start.autoGUI() {
		t.Errorf("%s: %+v, %v", test.spec, variant, err)
	}
}

// TestAPIDrawn checks positions and buttons as GamesmanUni draws them.
func TestAPIDrawn(t *testing.T) {
	c := newClient(t)
	for _, test := range []struct {
		path, p, position, want string
		buttons                 map[string]string
	}{
		{"connectn/7-6-4/", "3 3 2", "2_............X.....XO......................", "2_-----------------X----OX------------------", map[string]string{"0": "M_42_49_x", "6": "M_48_55_x"}},
		{"quickcross/4-4-4/", "a1- d2|", "1_-.../...|/..../....", "1_h------v--------", map[string]string{
			"a1|": "A_r_0_x", "d2-": "A_r_7_x", "b1-": "L_17_33_y", "b1|": "L_49_65_y", "d4|": "L_63_79_y"}},
		{"quickcross/4-4-4/", "2_-.../...|/..../....", "2_-.../...|/..../....", "2_h------v--------", nil},
		{"mnk/3-3-3/", "", "1_.../.../...", "1_---------", map[string]string{"a1": "A_X_0", "c2": "A_X_5"}},
		{"mancala/2-2/", "", "1_State([2,2,0,2,2,0],0)", "1_-..-.--.-..-~2~2~0~0~2~2", nil},
		{"dodgem/3/", "", "", "", nil},
		{"mills/5/", "a1 d2 c1 d3", "1_.-.-./-...-/..-B./-..B-/W-W-._W_3_3", "1_-------------B----B-W-W--.---.~3~3", map[string]string{"e1xd2": "M_24_18", "a5": "A_W_0"}},
		{"quixo/3/", "", "1_.../.../..._X", "1_BBBBBBBBB", map[string]string{"a1-a3": "M_0_6", "a3-a1": "M_6_0"}},
		{"teeko/standard/", "", "1_...../...../...../...../....._B", "1_-------------------------", map[string]string{"c3": "A_B_12"}},
		{"dobutsu/regular/", "", "1_.../.../gle/.c./.C./ELG/.../..._L", "1_---...-.--.-...---~g~l~e~c~C~E~L~G", map[string]string{"Cb3b2": "M_10_7"}},
		{"dobutsu/regular/", "Cb3b2 Ec1b2", "1_..c/.../gl./.e./.../ELG/..C/..._L", "1_--...--.----...--.~c~g~l~e~E~L~G~C", map[string]string{"C*b3": "M_17_10"}},
	} {
		var got apiPosition
		var variant apiVariant
		c.Get(test.path, "", &variant)
		if status := c.Get(test.path+"positions/", "p="+url.QueryEscape(test.p), &got); status != 200 {
			t.Errorf("%s, %s: status %d", test.path, test.p, status)
			continue
		}
		accepts(t, variant, got)
		if test.want != "" && (got.Position != test.position || got.AutoGUI != test.want) {
			t.Errorf("%s, %s: %s, %s", test.path, test.p, got.Position, got.AutoGUI)
		}
		for name, button := range test.buttons {
			at := slices.IndexFunc(got.Moves, func(m apiMove) bool { return m.Name == name })
			if at < 0 || got.Moves[at].AutoGUIMove != button {
				t.Errorf("%s, %s, move %s: expected %s, found %+v", test.path, test.p, name, button, got.Moves)
			}
		}
	}
	var games []apiEntry
	c.Get("", "", &games)
	if len(games) != len(all.Kinds()) {
		t.Errorf("%+v", games)
	}
	var cross apiGame
	c.Get("quickcross/", "", &cross)
	if cross.Name != "Quick Cross" || len(cross.Variants) != 1 || cross.Variants[0].ID != "3-3-3" || cross.Variants[0].GUI != "v2" {
		t.Errorf("%+v", cross)
	}
	var text struct{ Instructions string }
	c.Get("connectn/7-6-4/instructions/", "locale=de", &text)
	if !strings.HasPrefix(text.Instructions, "# Connect 4 on 7×6\n\nGoal: be the first to have 4 of your pieces in a row") {
		t.Errorf("%q", text.Instructions)
	}
}

// TestAPIUnsolved checks the answers for a game without a table: values by the rules, and those
// of a finished analysis.
func TestAPIUnsolved(t *testing.T) {
	c := newClient(t)
	var got apiPosition
	c.Get("connectn/4-4-3/positions/", "p=0,3,1,3", &got)
	if got.Value != unsolved || got.Remoteness != unknown || len(got.Moves) != 4 || got.Moves[0].Name != "2" || got.Moves[0].MoveValue != "win" ||
		got.Moves[0].Remoteness != 0 || got.Moves[1].MoveValue != unsolved || got.Moves[1].Remoteness != unknown {
		t.Errorf("%+v", got)
	}
	r := httptest.NewRecorder()
	c.Handler.ServeHTTP(r, httptest.NewRequest("GET", "http://localhost/view/connectn/4-4-3/analysis?moves=0,3,1,3", nil))
	c.Get("connectn/4-4-3/positions/", "p=0,3,1,3", &got)
	if got.Value != "win" || got.Remoteness != 1 || slices.ContainsFunc(got.Moves, func(m apiMove) bool { return m.MoveValue == unsolved }) {
		t.Errorf("%+v", got)
	}
	accepts(t, apiVariant{}, got)
}

// TestSortMoves checks the order and deltaRemoteness if distances are not known.
func TestSortMoves(t *testing.T) {
	move := func(value string, remoteness int) apiMove {
		return apiMove{MoveValue: value, apiPlace: apiPlace{Remoteness: remoteness}}
	}
	moves := []apiMove{move("unsolved", -100), move("lose", 4), move("lose", -100), move("lose", 2), move("draw", -200), move("win", -100), move("tie", -100), move("win", 5), move("win", 9)}
	sortMoves(moves)
	var got string
	for _, m := range moves {
		got += fmt.Sprintf("%s %d %d, ", m.MoveValue, m.Remoteness, m.Delta)
	}
	if want := "win 5 0, win 9 4, win -100 5, tie -100 0, draw -200 0, lose -100 0, lose 4 1, lose 2 3, unsolved -100 0, "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestAPIErrors checks the answers to requests for what does not exist.
func TestAPIErrors(t *testing.T) {
	c := newClient(t, solved.Table(t, solved.Game(t, "connectn width=3 height=3 connect=3")))
	r := httptest.NewRecorder()
	if c.Handler.ServeHTTP(r, httptest.NewRequest("GET", "http://localhost/api", nil)); r.Code != 200 || r.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("/api without a slash: status %d, %v", r.Code, r.Header())
	}
	for _, test := range []struct {
		path, query string
		status      int
	}{
		{"chess/", "", 404}, {"chess/8/", "", 404}, {"chess/8/positions/", "p=", 404}, {"chess/8/instructions/", "", 404},
		{"connectn/7-6/", "", 404}, {"connectn/7-x-4/positions/", "", 404},
		{"connectn/3-3-3/positions/", "p=OX.......", 400}, // play does not reach it
		{"connectn/3-3-3/positions/", "p=O........", 400},
		{"connectn/3-3-3/positions/", "p=2_.........", 400}, {"connectn/3-3-3/positions/", "p=1_x", 400}, {"connectn/3-3-3/positions/", "p=%zz", 200},
		{"connectn", "", 200}, {"connectn/3-3-3", "", 200}, {"connectn/3-3-3/positions", "p=0", 200},
	} {
		if status := c.Get(test.path, test.query, nil); status != test.status {
			t.Errorf("%s?%s: status %d, want %d", test.path, test.query, status, test.status)
		}
	}
}

// TestAPIDamaged checks that a damaged table gives an error for the positions that it affects,
// and that other answers stay right.
func TestAPIDamaged(t *testing.T) {
	g := solved.Game(t, "connectn width=4 height=4 connect=3")
	good, dir := solved.Table(t, g), solved.Dir(t, g)
	files, err := filepath.Glob(filepath.Join(dir, "table", "tier-10.*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text := must.Get(os.ReadFile(files[0]))(t)
	tab := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
	defer tab.Close()
	packed := must.Get(streamfmt.OpenFile(bytes.NewReader(text), int64(len(text)), files[0]))(t)
	entries := must.Get(packed.Cells(10))(t)
	text[entries[0].Offset] ^= 1
	must.OK(t, os.WriteFile(files[0], text, 0o666))
	c, status := newClient(t, tab), map[int]int{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		walk := gametest.Walk(r, g, r.IntN(16))
		p := walk[len(walk)-1]
		var got apiPosition
		code := c.Get("connectn/4-4-3/positions/", fmt.Sprintf("p=0x%x", p), &got)
		if status[code]++; code == 200 {
			agrees(t, good, p, got)
		} else if status[code] == 1 { // the page searches it, and shows why
			w := httptest.NewRecorder()
			c.Handler.ServeHTTP(w, httptest.NewRequest("GET", fmt.Sprintf("http://localhost/view/connectn/4-4-3/analysis?from=0x%x", p), nil))
			if w.Code != 200 || !strings.Contains(w.Body.String(), `The table is not used: `) || !strings.HasSuffix(w.Body.String(), "event: end\ndata: {}\n\n") {
				t.Errorf("%#x: status %d: %s", p, w.Code, w.Body)
			}
			w = httptest.NewRecorder()
			c.Handler.ServeHTTP(w, httptest.NewRequest("GET", fmt.Sprintf("http://localhost/view/connectn/4-4-3?mode=play&do=hint&from=0x%x", p), nil))
			if w.Code != 200 || !strings.Contains(w.Body.String(), `"hint":"`) {
				t.Errorf("%#x: the perfect machine: status %d: %s", p, w.Code, w.Body)
			}
		}
	}
	if len(status) != 2 || status[500] == 0 || status[200] == 0 {
		t.Errorf("answers by status: %v", status)
	}
}

// FuzzAPI checks that every p gets an answer that satisfies the document, and that no answer is
// an internal error.
func FuzzAPI(f *testing.F) {
	for _, p := range []string{"0x044", "1_.........", "2_0x44", "a1- b2|", "#5", "State([2,2,0,2,2,0],0)", "1_State([2,_2,0,2,2,0],_0)", "\x00", "1_", "_", "'         '\t3"} {
		f.Add(p)
	}
	g := solved.Game(f, "connectn width=3 height=3 connect=3")
	c := newClient(f, solved.Table(f, g))
	f.Fuzz(func(t *testing.T, p string) {
		c.T = t
		for _, path := range []string{"connectn/3-3-3/", "connectn/7-6-4/", "quickcross/3-3-3/", "mancala/3-2/", "network/regular/", "dodgem/3/", "mnk/3-3-3/"} {
			var got apiPosition
			if status := c.Get(path+"positions/", "p="+url.QueryEscape(p), &got); status == 200 {
				accepts(t, apiVariant{}, got)
			}
		}
	})
}
