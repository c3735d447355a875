package web

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/session"
	"github.com/treereduce/treereduce/search"
)

// A slot is the right to search, and the memory for it. There are Options.Searches of them.
type slot struct {
	spec     string
	analyzer *analysis.Analyzer
	searcher *search.Searcher
}

// quantum is the time after which a search gives up its slot to those that wait.
const quantum = 2 * time.Second

// withSlot calls do with a slot prepared for a game. A slot that last searched the same game
// keeps its table.
func (s *Server) withSlot(ctx context.Context, g *served, do func(*slot) error) error {
	var sl *slot
	select {
	case sl = <-s.slots:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.slots <- sl }()
	if sl.spec != g.g.Spec() {
		o := search.Options{Memory: s.o.Memory / int64(2*cap(s.slots)), Threads: 1}
		searcher, err := search.New(g.g, o)
		if err != nil {
			return err
		}
		*sl = slot{g.g.Spec(), analysis.New(g.g, nil, g.book, o), searcher}
	}
	return do(sl)
}

// A place is a position of a game.
type place struct {
	spec     string
	position game.Position
}

// maxKnown is the number of finished analyses that are kept.
const maxKnown = 10_000

// begin returns what is known of an unfinished position without a search. Its Trouble is why the
// table is not used.
func (s *Server) begin(g *served, p game.Position) analysis.Report {
	var trouble string
	if g.source != nil {
		z := analysis.New(g.g, g.source.Table, nil, search.Options{})
		r := z.LookUp(p)
		if r.Table {
			return r
		}
		trouble = "the table is not used: " + r.Trouble
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.assessed[place{g.g.Spec(), p}]; r != nil {
		return *r
	}
	r := analysis.New(g.g, nil, g.book, search.Options{}).Begin(p)
	r.Trouble = trouble
	return r
}

// worth returns what is known of the value of a position without a search.
func (s *Server) worth(g *served, p game.Position) analysis.Worth {
	if v := g.g.Primitive(p); v != 0 {
		return analysis.Worth{Value: g.g.Values().Ended(v, g.g.ToMove(p)), Known: true}
	}
	if g.source != nil {
		if v, ok, err := g.source.Table.Lookup(p); ok && err == nil {
			return analysis.Worth{Value: v, Known: true}
		}
	}
	if v, ok := g.book.Lookup(p); ok {
		return analysis.Worth{Value: v, Known: true}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.assessed[place{g.g.Spec(), p}]; r != nil {
		return r.Worth
	}
	return analysis.Worth{}
}

// known returns what is known of the position of a game, and of its moves, without a search.
func (s *Server) known(at *state) analysis.Report {
	return s.withMoves(at.g, s.begin(at.g, at.History().Position()))
}

// withMoves returns a report with what is known of the positions to which its moves lead.
func (s *Server) withMoves(g *served, r analysis.Report) analysis.Report {
	r.Moves = slices.Clone(r.Moves)
	for i := range r.Moves {
		m := &r.Moves[i]
		if w := s.worth(g, m.To); !m.Known && w.Known {
			m.Child, m.Worth = w.Value, analysis.Worth{Value: g.g.Values().Before(w.Value), Known: true, Open: w.Open}
		}
	}
	return r
}

// keep stores a for begin and worth.
func (s *Server) keep(g *served, r analysis.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := range s.assessed { // make room for it
		if len(s.assessed) < maxKnown {
			break
		}
		delete(s.assessed, at)
	}
	s.assessed[place{g.g.Spec(), r.Position}] = &r
}

// reportJSON is what is known of a position, for the page.
type reportJSON struct {
	Worth    *worthJSON            `json:"worth,omitempty"`
	Said     string                `json:"said"` // Worth in words
	Moves    map[string]*worthJSON `json:"moves"`
	Order    []string              `json:"order"` // the moves, the best first
	Best     string                `json:"best,omitempty"`
	Line     []string              `json:"line"`
	Summary  string                `json:"summary"` // how many moves keep the result, and what the winner threatens
	Source   string                `json:"source"`  // where this comes from, or what was searched
	Done     bool                  `json:"done"`
	Practice *practiceJSON         `json:"practice,omitempty"`
}

// reportOf converts what is known of the position of a game.
func reportOf(at *state, r analysis.Report) reportJSON {
	g, turn := at.g.g, at.History().Turn()
	out := reportJSON{
		Worth: worthOf(g, r.Position, turn, r.Worth), Said: at.Said(r), Moves: map[string]*worthJSON{}, Order: []string{},
		Line: append([]string{}, r.Line...), Summary: r.Summary(g), Source: session.Source(r), Done: r.Done || r.Table, Practice: practiceOf(at, r),
	}
	if r.Best >= 0 {
		out.Best = r.Moves[r.Best].Name
	}
	for _, i := range r.Order(g) {
		out.Order = append(out.Order, r.Moves[i].Name)
	}
	for _, m := range r.Moves {
		if out.Moves[m.Name] = worthOf(g, r.Position, turn, m.Worth); !m.Known && m.Depth > 0 {
			out.Summary = "Points are an estimate of the search: the more, the better for that side."
		}
	}
	if why := r.Why(g); why != "" {
		out.Summary = strings.TrimSpace(out.Summary + " " + why + ".")
	}
	return out
}

// events returns the handler that answers with the events that send sends about a game, and an
// event end if it does not fail.
func (s *Server) events(send func(context.Context, *Stream, *state) error) Handler {
	return func(r *Request) (*Answer, error) {
		at, err := s.state(r)
		if err != nil {
			return nil, err
		}
		return s.Stream(func(ctx context.Context, out *Stream) error { return send(ctx, out, at) })
	}
}

// analysis implements /view/…/analysis: events with what is known of a position, until it is
// final or the client leaves.
func (s *Server) analysis(ctx context.Context, out *Stream, at *state) error {
	if len(at.History().Moves()) == 0 {
		return nil
	}
	report := s.begin(at.g, at.History().Position())
	send := func(r analysis.Report) error { return out.Send("report", reportOf(at, s.withMoves(at.g, r))) }
	for {
		if err := send(report); err != nil {
			return err
		}
		if report.Done || report.Table {
			return nil
		}
		err := s.withSlot(ctx, at.g, func(sl *slot) error {
			step, cancel := context.WithTimeout(ctx, quantum)
			defer cancel()
			report = sl.analyzer.Step(step, report, func(r analysis.Report) {
				if send(r) != nil {
					cancel()
				}
			})
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		if report.Done || report.Known {
			s.keep(at.g, report)
		}
	}
}

// The times of a review: of the first search of each position, and of all searches together.
const (
	reviewTime = 500 * time.Millisecond
	reviewMost = time.Minute
)

// review implements /view/…/review: it finds the values of all positions of a play that have none yet, as far as
// searches prove them. It begins with the last position, because the search keeps what it finds for earlier ones;
// then it searches those that remain again, for longer. After each search it sends how many positions have a value
// and, if another move is a mistake, the review.
func (s *Server) review(ctx context.Context, out *Stream, at *state) error {
	h := at.Whole()
	all, mistakes := h.Positions(), 0
	unknown := slices.DeleteFunc(slices.Clone(all), func(p game.Position) bool { return s.worth(at.g, p).Known })
	slices.Reverse(unknown)
	done, limit, begun := len(all)-len(unknown), s.reviewTime, time.Now()
	for len(unknown) > 0 {
		left := unknown[:0]
		for _, p := range unknown {
			known, err := s.assess(ctx, at.g, p, limit)
			if err != nil {
				return err
			}
			if known {
				done++
			} else {
				left = append(left, p)
			}
			if review := s.reviewOf(at, h); len(review.Mistakes) > mistakes {
				mistakes = len(review.Mistakes)
				if err := out.Send("review", review); err != nil {
					return err
				}
			}
			if err := out.Send("progress", map[string]int{"done": done, "of": len(all)}); err != nil {
				return err
			}
			if time.Since(begun) >= reviewMost {
				return nil
			}
		}
		unknown, limit = left, min(2*limit, quantum)
	}
	return nil
}

// assess searches a position whose value is not known, and reports whether it is known then.
func (s *Server) assess(ctx context.Context, g *served, p game.Position, limit time.Duration) (known bool, err error) {
	if s.worth(g, p).Known {
		return true, nil
	}
	err = s.withSlot(ctx, g, func(sl *slot) error {
		report, err := sl.analyzer.Assess(ctx, p, limit)
		if known = err == nil && report.Known; known {
			s.keep(g, report)
		}
		return err
	})
	return known, err
}
