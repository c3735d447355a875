package teeko

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

func mustNew(t testing.TB, variant int) *rules {
	t.Helper()
	return must.Get(New(variant))(t).(*rules)
}

func TestContract(t *testing.T) {
	for number := range variant.Words {
		g := mustNew(t, number)
		gametest.Contract(t, g)
		for tier := range g.Tiers() + 1 {
			if g.Loops(tier) != (tier == 8) {
				t.Errorf("%s: moves may stay in tier %d: %v", g.Spec(), tier, g.Loops(tier))
			}
		}
	}
}

// TestDraw checks that the rules for people have the draw rule.
func TestDraw(t *testing.T) {
	g := mustNew(t, advanced)
	if rule := game.DrawRuleOf(g); rule.Repetitions != 3 || !strings.Contains(game.RulesOf(g), fmt.Sprintf(" third time, or after %d moves", rule.Plies)) {
		t.Errorf("the draw rule is %+v", rule)
	}
}

// Of all sets of four squares, those that are goals are the 44 or 58 of Scarne. All others have
// squares enough beside them that a player can always move.
func TestGoals(t *testing.T) {
	for number, want := range []int{44, 58} {
		g, n := mustNew(t, number), naiveTeeko{number == advanced}
		goals, fewest := 0, g.Squares
		for set := range g.Full + 1 {
			if bits.OnesCount64(set) != stones {
				continue
			}
			var squares []point
			var beside uint64
			for s := range g.Squares {
				if set>>s&1 == 1 {
					squares = append(squares, point{s / size, s % size})
					beside |= g.beside[s]
				}
			}
			goal := g.goal(set)
			if goal != n.goal(squares) {
				t.Fatalf("%s: %v is a goal: %v", g.Spec(), squares, goal)
			}
			if goal {
				goals++
			} else {
				fewest = min(fewest, bits.OnesCount64(beside&^set))
			}
		}
		if goals != want || fewest != 6 {
			t.Errorf("%s: %d goals, want %d; at least %d squares beside the others, want 6", g.Spec(), goals, want, fewest)
		}
	}
}

// Random games have the moves and ends of the oracle.
func TestWalks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for number := range variant.Words {
		g, n := mustNew(t, number), naiveTeeko{number == advanced}
		ends := map[string]int{}
		for range 30 {
			for _, p := range gametest.Walk(r, g, 300) {
				text := string(g.AppendText(nil, p))
				won := ""
				if v := g.Primitive(p); v != 0 {
					won = g.Values().Players[v.Outcome().Winner()]
					ends[won]++
				}
				if want := n.Winner(text); won != want {
					t.Fatalf("%s: %q has been won by %q, want %q", g.Spec(), text, won, want)
				}
				if won != "" {
					continue
				}
				gametest.SameMoves(t, g, p, n.Moves(text))
			}
		}
		if ends["B"] == 0 || ends["R"] == 0 {
			t.Errorf("%s: games won: %v", g.Spec(), ends)
		}
	}
}

// The canonical positions of the first tiers, and their images, are as many as those of the oracle.
func TestTiers(t *testing.T) {
	const last = 4
	g := mustNew(t, 0)
	texts, positions := map[string]bool{board{}.text("B"): true}, map[game.Position]bool{g.Start(): true}
	for tier := range last + 1 {
		nextTexts, nextPositions := make(map[string]bool), make(map[game.Position]bool)
		all := make(map[string]bool)
		for text := range texts {
			for _, image := range images(text) {
				all[image] = true
			}
			if tier < last {
				for _, after := range (naiveTeeko{}).Moves(text) {
					nextTexts[slices.Min(images(after))] = true
				}
			}
		}
		expanded := 0
		for p := range positions {
			for _, image := range g.Images(nil, p) {
				expanded++
				if !all[string(g.AppendText(nil, image))] {
					t.Fatalf("tier %d: %q is an image of no position", tier, g.AppendText(nil, image))
				}
			}
			for _, m := range g.Moves(nil, p) {
				nextPositions[g.Canonical(m.To)] = true
			}
		}
		if len(positions) != len(texts) || expanded != len(all) || expanded != int(g.Info().Boards(tier)) {
			t.Errorf("tier %d: %d canonical positions, %d with their images of %v, want %d and %d",
				tier, len(positions), expanded, g.Info().Boards(tier), len(texts), len(all))
		}
		texts, positions = nextTexts, nextPositions
	}
}

// The player who moved last wins if both have a goal, which play cannot reach.
func TestTwoGoals(t *testing.T) {
	g := mustNew(t, 0)
	for text, want := range map[string]game.Outcome{
		"BBBB./RRRR./...../...../..... B": game.SecondWins, "BBBB./RRRR./...../...../..... R": game.FirstWins,
		"BBBB./RRR../R..../...../..... B": game.FirstWins,
	} {
		p := must.Get(g.Parse(text))(t)
		if got := g.Primitive(p); got != game.NewValue(want, 0) {
			t.Errorf("%s is %v, want %v", text, got, game.NewValue(want, 0))
		}
	}
}

// The examples of rules.txt and of the package comment, and what the picture of an end shows.
func TestPicture(t *testing.T) {
	g := mustNew(t, 0)
	p := must.Get(g.Parse("...../.BR../.RBB./..R.B/..R.. R"))(t)
	if got, want := g.Picture(p).String(), "   a b c d e\n1  .─.─.─.─.\n2  .─B─R─.─.\n3  .─R─B─B─.\n4  .─.─R─.─B\n5  .─.─R─.─.\n"; got != want {
		t.Errorf("the picture is\n%swant\n%s", got, want)
	}
	moves := g.Moves(nil, must.Get(g.Parse("...../.R.R./..BB./..B.B/.R.R. B"))(t))
	i := slices.IndexFunc(moves, func(m game.Move) bool { return m.Name == "e4-d4" })
	if i < 0 || g.Primitive(moves[i].To) != game.NewValue(game.FirstWins, 0) {
		t.Fatalf("e4-d4 does not win: it is move %d of %v", i, moves)
	}
	if won := g.Picture(moves[i].To).Won; !slices.Equal(won, [][2]int{{2, 2}, {2, 3}, {3, 2}, {3, 3}}) {
		t.Errorf("the goal is %d", won)
	}
}

func TestErrors(t *testing.T) {
	g := mustNew(t, 0)
	_, negative := New(-1)
	_, large := New(2)
	_, noTurn := g.Parse("B..../...../...../...../.....")
	_, rows := g.Parse("B..../..... R")
	_, turn := g.Parse("B..../...../...../...../..... B")
	_, many := g.Parse("BBBBB/RRRRR/...../...../..... B")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{negative, "teeko: variant must be 0 or 1, found -1"},
		{large, "teeko: variant must be 0 or 1, found 2"},
		{noTurn, `position "B..../...../...../...../.....": expected a board and, after a blank, the player to move, B or R`},
		{rows, `board "B..../.....": expected 5 rows with / between them, found 2`},
		{turn, "0x1 is not a position: the player to move has 1 stones, the other 0, expected as many or one more, at most 4"},
		{many, "0x421084108421 is not a position: the player to move has 5 stones, the other 5, expected as many or one more, at most 4"},
		{g.Check(1 | 1<<25), "0x2000001 is not a board of 5×5 with a player to move"},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("error\n%v, want\n%s", tt.err, tt.want)
		}
	}
	if g, err := Kind.New([]int{2}); g != nil || err == nil {
		t.Errorf("Kind.New(2) = %v, %v", g, err)
	}
}

// FuzzParse checks that the result of Parse is valid and survives a round trip.
func FuzzParse(f *testing.F) {
	gametest.FuzzParse(f, mustNew(f, 0), "", "B..../...../...../...../..... R", "...../.BR../.RBB./..R.B/..R.. R", "'     /_____/     /     /     ' B", " B")
}

// BenchmarkEdges measures positions with eight stones.
func BenchmarkEdges(b *testing.B) {
	g := mustNew(b, 0)
	gametest.BenchmarkEdges(b, g, 40, func(p game.Position) bool { return g.Loops(g.Tier(p)) })
}
