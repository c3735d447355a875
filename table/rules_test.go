package table

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/quickcross"
)

// A right table of a game with cycles passes the check by the rules; each position
// that is wrong, too much or missing is found, at itself or at one that leads to it.
func TestRulesCyclic(t *testing.T) {
	quick, err := quickcross.New(3, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	games := []game.Cyclic{game.PlainRanges(gametest.TieGame(), 4), quick}
	for range 20 {
		games = append(games, game.PlainRanges(gametest.RandomGraph(r, 2+r.IntN(40)), 7))
	}
	for _, g := range games {
		right := valuesOf(g)
		verify := func(values map[game.Position]byte) error {
			tab, err := OpenOf(cyclicTable(t, g, values), ".", g)
			if err != nil {
				t.Fatal(err)
			}
			defer tab.Close()
			_, _, err = Rules{}.Verify(context.Background(), tab)
			return err
		}
		if err := verify(right); err != nil {
			t.Fatalf("%s: %v", g.Spec(), err)
		}
		leads := func(p, to game.Position) bool {
			return slices.ContainsFunc(g.Moves(nil, p), func(m game.Move) bool { return m.To == to })
		}
		for range 30 {
			p := game.Position(r.Uint64N(g.Positions()))
			was, reached := right[p]
			wrong := byte(r.IntN(256))
			if wrong&3 == 0 {
				wrong = 0
			}
			switch remove := r.IntN(3) == 0; {
			case remove && reached:
				delete(right, p)
			case remove || wrong == was:
				continue
			default:
				right[p] = wrong
			}
			err := verify(right)
			var fault *Fault
			if !errors.As(err, &fault) || fault.Position != p && !leads(fault.Position, p) {
				t.Fatalf("%s: position %d: value %d, reached %v, became %d: %v", g.Spec(), p, was, reached, right[p], err)
			}
			delete(right, p)
			if reached {
				right[p] = was
			}
		}
	}
}

// A position that nothing leads to is found, though all that is said of it is right.
func TestRulesUnled(t *testing.T) {
	graph := gametest.TieGame() // 6 leads to a tie, but nothing to 6
	g := game.PlainRanges(graph, 4)
	values := valuesOf(g)
	values[6] = byte(1<<2 | game.Ties)
	tab, err := OpenOf(cyclicTable(t, g, values), ".", g)
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	var fault *Fault
	if _, _, err := (Rules{}).Verify(context.Background(), tab); !errors.As(err, &fault) || fault.Position != 6 {
		t.Errorf("got %v, want the fault at 6", err)
	}
}

// A sample has as many as are asked for, each once, and all positions are as likely.
func TestSample(t *testing.T) {
	slots := func() []uint32 { return []uint32{3, 5, 8, 13, 21} }
	for n := uint64(1); n < 20; n++ {
		var picked [20]int
		for seed := range uint64(2000) {
			s := newSample(20, n, seed)
			count := uint64(0)
			for first := uint64(0); first < 20; first += 5 {
				of := s.of(slots(), first)
				if s.any(first, first+5) != (len(of) > 0) {
					t.Fatalf("%d of 20, seed %d: any from %d is %v, of them are %v", n, seed, first, len(of) == 0, of)
				}
				for _, slot := range of {
					i := slices.Index(slots(), slot)
					if i < 0 || !slices.IsSorted(of) {
						t.Fatal(of)
					}
					picked[first+uint64(i)]++
					count++
				}
			}
			if count != n {
				t.Fatalf("%d of 20, seed %d: %d are picked", n, seed, count)
			}
		}
		for i, count := range picked {
			if want := 2000 * int(n) / 20; count < want*7/10-20 || count > want*13/10+20 {
				t.Errorf("%d of 20: number %d is picked %d times, want about %d", n, i, count, want)
			}
		}
	}
}

// The fault of the lowest range is told, though that of a later one came first.
func TestEachRangeLowest(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	ranges := make([]uint64, 1000)
	for i := range ranges {
		ranges[i] = uint64(i)
	}
	late := make(chan bool)
	low := errors.New("low")
	err := eachRange(context.Background(), ranges, func() func(uint64) error {
		return func(rng uint64) error {
			switch rng {
			case 5:
				<-late // until the other worker has met its own, and told of it
				time.Sleep(20 * time.Millisecond)
				return low
			case 70:
				close(late)
				return errors.New("high")
			}
			return nil
		}
	})
	if err != low {
		t.Errorf("%v, want the lowest", err)
	}
}
