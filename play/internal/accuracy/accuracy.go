package accuracy

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// A Group is the result of the moves of some plies.
type Group struct {
	First    int     `json:"first"` // the plies, from 1
	Last     int     `json:"last"`
	Moves    int     `json:"moves"`       // judged moves, including faults
	Kept     int     `json:"kept"`        // judged moves that keep the result
	Measured int     `json:"measured"`    // moves of which it is known whether they are the best
	Best     int     `json:"best"`        // measured moves with the value of the position, its distance included
	Lost     float64 `json:"points_lost"` // by all moves: the result of the position less that of the move
}

// add adds the counts of another group.
func (g *Group) add(o Group) {
	g.Moves, g.Kept, g.Measured, g.Best, g.Lost = g.Moves+o.Moves, g.Kept+o.Kept, g.Measured+o.Measured, g.Best+o.Best, g.Lost+o.Lost
}

// Interval returns the 95 % interval of a share, k of n, by E. B. Wilson. n must not be 0.
func Interval(k, n int) (low, high float64) {
	const z = 1.959964
	share, all := float64(k)/float64(n), float64(n)
	middle := share + z*z/(2*all)
	spread := z * math.Sqrt(share*(1-share)/all+z*z/(4*all*all))
	scale := 1 + z*z/all
	low, high = (middle-spread)/scale, (middle+spread)/scale
	if k == 0 {
		low = 0 // without the error of rounding
	}
	if k == n {
		high = 1
	}
	return low, high
}

// A Result is the result of a player.
type Result struct {
	Plies     []Group       // by ply: that of ply 1 has index 0
	Positions int           // positions, judged or not
	Asked     int           // positions at which the player was asked
	Faults    int           // answers that lose a game at once, such as illegal moves
	Time      time.Duration // the time of all answers together
}

// Unjudged returns the number of positions without a proven value, of themselves or after the player's move.
func (r Result) Unjudged() int { return r.Positions - r.Total().Moves }

// Total returns the result of all plies.
func (r Result) Total() Group {
	all := Group{First: 1, Last: len(r.Plies)}
	for _, g := range r.Plies {
		all.add(g)
	}
	return all
}

// maxGroups is the maximum number of groups that Groups returns.
const maxGroups = 8

// Groups returns the results of groups of plies with moves. All groups have the same number of plies.
func (r Result) Groups() (groups []Group) {
	width := r.width()
	for first := 0; first < len(r.Plies); first += width {
		g := Group{First: first + 1, Last: first + width}
		for _, ply := range r.Plies[first:min(first+width, len(r.Plies))] {
			g.add(ply)
		}
		if g.Moves > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// width returns the number of plies of a group: 1, 2, 5, 10, 20, 50, …
func (r Result) width() int {
	for scale := 1; ; scale *= 10 {
		for _, digit := range []int{1, 2, 5} {
			if len(r.Plies) <= maxGroups*digit*scale {
				return digit * scale
			}
		}
	}
}

// An Exam asks a player for moves, and judges them.
type Exam struct {
	Entrant  referee.Entrant
	Rules    referee.Rules
	Analyzer *analysis.Analyzer
	Limit    time.Duration              // the time limit of each search that judges, if there is no table
	Fault    func(fault referee.Played) // called for each play that the player has lost by its move
	Report   func(positions int)        // called after each position
}

// Run examines the player at the last positions of histories, which begin at the start of the game. After an error the
// result is that of the positions so far.
func (x Exam) Run(ctx context.Context, histories []*player.History) (r Result, err error) {
	other := referee.Entrant{New: func(context.Context) (player.Player, error) { return leaver{}, nil }}
	both := &referee.Pairing{Entrants: [2]referee.Entrant{x.Entrant.GiveUp(), other}}
	defer both.Close()
	for _, h := range histories {
		if err := x.examine(ctx, both, h, &r); err != nil {
			return r, err
		}
		r.Positions++
		x.Report(r.Positions)
	}
	return r, nil
}

// A leaver is the opponent of the player: it ends each play after the player's move.
type leaver struct{}

func (leaver) Move(context.Context, *player.History, time.Duration) (string, error) {
	return "", player.ErrLeft
}
func (leaver) Close() error { return nil }

// examine asks for the move at the last position of h, unless its value is not proven, and adds the result.
func (x Exam) examine(ctx context.Context, both *referee.Pairing, h *player.History, r *Result) error {
	g, ply := h.Game(), len(h.Names())
	before, err := x.Analyzer.Assess(ctx, h.Position(), x.Limit)
	if err != nil || !before.Known {
		return err
	}
	p, err := both.Play(ctx, g, x.Rules, int(h.Turn()), h.Names())
	chosen := p.History != nil && len(p.History.Names()) > ply
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && !(chosen && errors.Is(err, player.ErrLeft)):
		return err
	}
	r.Asked++
	if len(p.Times) > 0 {
		r.Time += p.Times[0]
	}
	if !chosen {
		r.Faults++
		x.Fault(p)
		r.add(ply, Group{Moves: 1, Measured: 1, Lost: points[analysis.ResultOf(g, h.Position(), before.Value)]})
		return nil
	}
	after, err := x.Analyzer.Assess(ctx, p.History.At(ply+1), x.Limit)
	if err != nil {
		return err
	}
	if j := analysis.Review(g, p.History.Names()[ply:ply+1], 0, []analysis.Report{before, after})[0]; j.Known() {
		r.add(ply, judged(h, j))
	}
	return nil
}

// add adds the counts of one move after that many others.
func (r *Result) add(ply int, g Group) {
	for len(r.Plies) <= ply {
		r.Plies = append(r.Plies, Group{First: len(r.Plies) + 1, Last: len(r.Plies) + 1})
	}
	r.Plies[ply].add(g)
}

// points are the points of a result, as in a match.
var points = [...]float64{game.Wins: 1, game.Ties: 0.5, game.Draws: 0.5, game.Loses: 0}

// judged returns the counts of one move at the last position of h.
func judged(h *player.History, j analysis.Judgment) Group {
	result := func(w analysis.Worth) game.Result { return analysis.ResultOf(h.Game(), h.Position(), w.Value) }
	g := Group{Moves: 1, Lost: points[result(j.Before)] - points[result(j.After)]}
	if !j.Mistake {
		g.Kept = 1
	}
	if j.Mistake || !j.Before.Open && !j.After.Open {
		g.Measured = 1
	}
	if g.Measured == 1 && j.Before.Value == j.After.Value {
		g.Best = 1
	}
	return g
}
