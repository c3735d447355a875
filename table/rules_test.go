package table

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/stored"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// A batched is a game that computes many positions at once. If it lies, they then have no moves.
type batched struct {
	game.Game
	lies bool
}

func (g batched) Batch([]game.Position) (game.Game, error) {
	if g.lies {
		return stuck{g.Game}, nil
	}
	return nameless{g.Game}, nil
}

type stuck struct{ game.Game }

func (stuck) Moves(dst []game.Move, _ game.Position) []game.Move { return dst }

type nameless struct{ game.Game }

func (g nameless) Moves(dst []game.Move, p game.Position) []game.Move {
	dst = g.Game.Moves(dst, p)
	for i := range dst {
		dst[i].Name = ""
	}
	return dst
}

// TestRulesBatched checks that a missing position is found where many are computed at once, with the name of the move
// that leads to it, and a game that computes positions in another way then.
func TestRulesBatched(t *testing.T) {
	g := testgames.TieGame()
	values := testgames.Solve(g)
	verify := func(g game.Game) error {
		tab := must.Get(OpenOf(tableOf(t, g, rowsOf(g, values)), ".", g))(t)
		defer tab.Close()
		_, _, err := Rules{}.Verify(t.Context(), tab)
		return err
	}
	if err := verify(batched{g, true}); err == nil || !strings.Contains(err.Error(), "the rules contradict themselves") {
		t.Errorf("a game that lies: %v", err)
	}
	var fault *Fault
	missing := g.Moves(nil, g.Start())[0]
	delete(values, missing.To)
	if err := verify(batched{g, false}); !errors.As(err, &fault) || fault.Position != g.Start() || !strings.Contains(err.Error(), "its move "+missing.Name+" leads to") {
		t.Errorf("a missing position: %v", err)
	}
}

// TestRulesUnled checks that a position without predecessors is found, even if its value is
// right.
func TestRulesUnled(t *testing.T) {
	g := testgames.TieGame() // 6 leads to a tie, but nothing leads to 6
	values := testgames.Solve(g)
	values[6] = game.Ties.In(1)
	tab := must.Get(OpenOf(tableOf(t, g, rowsOf(g, values)), ".", g))(t)
	defer tab.Close()
	var fault *Fault
	if _, _, err := (Rules{}).Verify(context.Background(), tab); !errors.As(err, &fault) || fault.Position != 6 {
		t.Errorf("got %v, want the fault at 6", err)
	}
}

// TestRulesReleases checks that a part, with the blocks that it caches, is garbage when the next one is checked.
func TestRulesReleases(t *testing.T) {
	var first weak.Pointer[stored.Part]
	parts, checked := make([]rulesPart, 2), 0
	for i := range parts {
		parts[i] = numbers([][2]int{{0, 0}}, stored.File{End: 1})
		parts[i].Slots = func(uint64) int { return 1 }
		parts[i].Reader = func(int) stored.Reader {
			if runtime.GC(); i == 1 && first.Value() != nil {
				t.Error("the first part is in memory")
			}
			checked += i
			return noPositions{}
		}
	}
	first = weak.Make(parts[0].Part)
	c := &rulesCheck{g: &plainRules{Game: testgames.TieGame()}}
	if err := c.run(t.Context(), parts); err != nil || checked == 0 {
		t.Errorf("the last part is read %d times, %v", checked, err)
	}
}

// noPositions reads ranges without positions.
type noPositions struct{ stored.Reader }

func (noPositions) Load(slots []uint32, i int) (uint64, []uint32, error) {
	return uint64(i), slots, nil
}

// TestSample checks that a sample has the requested number of positions, without duplicates,
// and that all positions are equally likely, even though a range may have fewer positions than
// its bound.
func TestSample(t *testing.T) {
	const all = 20
	part := numbers([][2]int{{2, 3}, {0, 2}, {9, 9}, {0, 0}, {7, 20}, {2, 2}}, stored.File{Counts: Counts{1: 4, 2: 7}, End: 3}, stored.File{Counts: Counts{3: 9}, End: 6})
	for n := uint64(1); n < all; n++ {
		picked := make(map[game.Position]int)
		for seed := range uint64(2000) {
			var count, first uint64
			s := newSample(all, n, seed)
			for i, f := range part.Files {
				total := Counts(f.Counts).Total()
				file := must.Get(part.bounded(i))(t)
				share, random := s.among(first, first+total), s.random(first)
				if first += total; share == 0 {
					continue
				}
				of := must.Get(file.draw(t.Context(), share, total, random, anyValue))(t)
				seen := make(map[game.Position]bool)
				for _, one := range of {
					if seen[one.position] || one.value != game.Value(one.position%16+1) {
						t.Fatalf("position %d, value %d, %d others", one.position, one.value, len(seen))
					}
					seen[one.position] = true
					picked[one.position]++
					count++
				}
			}
			if count != n {
				t.Fatalf("%d of %d, seed %d: %d are picked", n, all, seed, count)
			}
		}
		if len(picked) != all {
			t.Errorf("%d of %d: %d are ever picked", n, all, len(picked))
		}
		for at, count := range picked {
			if want := 2000 * int(n) / all; count < want*7/10-20 || count > want*13/10+20 {
				t.Errorf("%d of %d: %d is picked %d times, want about %d", n, all, at, count, want)
			}
		}
	}
}

// numbers returns a part of ranges: the number of the positions of each, and its upper bound.
func numbers(ranges [][2]int, files ...stored.File) rulesPart {
	return rulesPart{&stored.Part{
		Files:  files,
		Len:    len(ranges),
		Images: 1,
		Range:  func(i int) (rng uint64, most int, err error) { return uint64(i), ranges[i][1], nil },
		Picker: func(int) func(int, []uint64, func(int, game.Position, game.Value)) error {
			return func(i int, numbers []uint64, take func(int, game.Position, game.Value)) error {
				for at, n := range numbers {
					if n < uint64(ranges[i][0]) {
						take(at, uint64(i)<<4|n, game.Value(n+1))
					}
				}
				return nil
			}
		},
	}}
}

// anyValue wants every value.
func anyValue(game.Value) bool { return true }

// TestGroup groups places of more ranges than a bounded has sums for.
func TestGroup(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	before := make(map[int]uint64) // by range
	var of [][2]int
	var sum uint64
	for i := range 5 * sumEvery {
		most := max(0, random.IntN(6)-2)
		before[i], of = sum, append(of, [2]int{i, most})
		sum += uint64(most)
	}
	part := numbers(of, stored.File{End: 7}, stored.File{End: len(of)})
	b := must.Get(part.bounded(1))(t)
	for _, share := range []float64{0.001, 0.1, 1} {
		var places, got []uint64
		for place := range b.places() {
			if random.Float64() < share {
				places = append(places, place)
			}
		}
		for _, d := range must.Get(b.group(places))(t) {
			if d.place != before[d.i]-before[7] {
				t.Fatalf("range %d begins at place %d, want %d", d.i, d.place, before[d.i]-before[7])
			}
			for _, n := range d.numbers {
				if n >= uint64(of[d.i][1]) {
					t.Fatalf("number %d of range %d, which has at most %d", n, d.i, of[d.i][1])
				}
				got = append(got, d.place+n)
			}
		}
		if !slices.Equal(got, places) {
			t.Errorf("share %v: got places %v, want %v", share, got, places)
		}
	}
}

// TestSampleOfWrongCounts checks that a file with fewer positions than it records is an error,
// and not an endless loop.
func TestSampleOfWrongCounts(t *testing.T) {
	part := numbers([][2]int{{1, 3}}, stored.File{Name: "f", Counts: Counts{1: 5}, End: 1})
	file := must.Get(part.bounded(0))(t)
	if _, err := file.draw(t.Context(), 2, 5, newSample(5, 2, 1).random(0), anyValue); err == nil || !strings.HasPrefix(err.Error(), "f: the recorded counts differ") {
		t.Errorf("got %v", err)
	}
}
