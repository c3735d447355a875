package referee_test

import (
	"context"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/search"
)

// perfectDepth replaces the time limit of the level perfect, so that a match takes a minute and
// does not depend on the machine.
const perfectDepth = 12

// BenchmarkLevels plays matches of 300 games between neighbouring levels, from 150 openings of
// four random plies. It reports the score of the stronger level and the lower end of the score's
// 95 % interval, which must be above a half.
func BenchmarkLevels(b *testing.B) {
	for _, spec := range []string{"connectn width=7 height=6 connect=4", "mancala pits=6 stones=4"} {
		g, levels := solved.Game(b, spec), player.Levels()
		entrant := func(i int) referee.Entrant {
			l := levels[i]
			if l.Perfect {
				l.Depth, l.Time = perfectDepth, 0
			}
			return referee.Entrant{Name: l.Name, New: func(context.Context) (player.Player, error) {
				s, err := search.New(g, search.Options{Memory: 32 << 20, Threads: 1})
				return player.NewLevel(l, nil, nil, s.Search, uint64(i)), err
			}}
		}
		for i := 1; i < len(levels); i++ {
			b.Run(strings.Fields(spec)[0]+"/"+levels[i].Name, func(b *testing.B) {
				for range b.N {
					m := referee.Match{Game: g, Games: 300, Openings: referee.NewOpenings(g, 4, 1, nil), Entrants: [2]referee.Entrant{entrant(i), entrant(i - 1)}}
					s, err := m.Play(b.Context())
					must.OK(b, err)
					low, high := s[0].Interval()
					b.ReportMetric(s[0].Score(), "score")
					b.ReportMetric(low, "low")
					if low <= 0.5 {
						b.Errorf("%s against %s: the score is %.3f, its interval %.3f to %.3f", s[0].Name, s[1].Name, s[0].Score(), low, high)
					}
				}
			})
		}
	}
}
