package gametest_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// A badSampled is a game.Sampled that breaks the contract.
type badSampled struct {
	game.Sampled
	boards func(tier int) float64
	spoil  func(s *game.Sample)
}

func (b badSampled) Boards(tier int) float64  { return b.boards(tier) }
func (b badSampled) NewSampler() game.Sampler { return badSampler{b.Sampled.NewSampler(), b.spoil} }

type badSampler struct {
	game.Sampler
	spoil func(s *game.Sample)
}

func (b badSampler) Sample(tier int, r *rand.Rand) game.Sample {
	s := b.Sampler.Sample(tier, r)
	b.spoil(&s)
	return s
}

// CheckSampled reports violations by name.
func TestCheckSampled(t *testing.T) {
	g := must.Get(mnk.New(3, 3, 3))(t).(game.Sampled)
	n := 0
	for want, fault := range map[string]func(b *badSampled){
		"":                             func(*badSampled) {},
		"positions, of 0.5 boards":     func(b *badSampled) { b.boards = func(int) float64 { return 0.5 } },
		"with the same random numbers": func(b *badSampled) { b.spoil = func(s *game.Sample) { n++; s.Open += float64(n) } },
		"moves at most":                func(b *badSampled) { b.spoil = func(s *game.Sample) { s.Moves = 10 * s.Open } },
		"positions won after it":       func(b *badSampled) { b.spoil = func(s *game.Sample) { s.Won *= 0.8 } },
		"moves are estimated":          func(b *badSampled) { b.spoil = func(s *game.Sample) { s.Moves *= 0.9 } },
		"open positions are":           func(b *badSampled) { b.spoil = func(s *game.Sample) { s.Open *= 0.9; s.Moves = 0 } },
	} {
		b := &badSampled{g, g.Boards, func(*game.Sample) {}}
		fault(b)
		f := failureOf(t, func(t testing.TB) { gametest.CheckSampled(t, b, 2000) })
		if (f == "") != (want == "") || !strings.Contains(f, want) {
			t.Errorf("the failure is %q, want %q", f, want)
		}
	}
}
