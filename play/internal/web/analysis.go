package web

import (
	"context"
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/analysis"
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

// begin returns what is known of a position without a search. Its Trouble is why the
// table is not used.
func (s *Server) begin(g *served, p game.Position) analysis.Report {
	var trouble string
	if g.table != nil {
		r, err := analysis.New(g.g, g.table, nil, search.Options{}).Assess(context.Background(), p, 0)
		if err == nil {
			return r
		}
		trouble = "the table is not used: " + err.Error()
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
	if g.table != nil {
		if v, ok, err := g.table.Lookup(p); ok && err == nil {
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
	if p := at.History().Position(); at.Over() {
		return analysis.Report{Position: p, Best: -1}
	}
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

// events returns the handler that answers with the events that send sends about a game, and an
// event end if it does not fail.
func (s *Server) events(send func(context.Context, Stream, *state) error) Handler {
	return func(r *Request) (*Answer, error) {
		at, err := s.state(r)
		if err != nil {
			return nil, err
		}
		return s.Stream(func(ctx context.Context, out Stream) error { return send(ctx, out, at) })
	}
}

// analysis implements /view/…/analysis: events with what is known of a position, until it is
// final or the client leaves.
func (s *Server) analysis(ctx context.Context, out Stream, at *state) error {
	if len(at.History().Moves()) == 0 {
		return nil
	}
	report := s.begin(at.g, at.History().Position())
	var review map[string]template.HTML // that was sent last
	send := func(r analysis.Report) error {
		shown, err := s.reportOf(at, s.withMoves(at.g, r))
		if err != nil {
			return err
		}
		if maps.Equal(shown.Review, review) {
			shown.Review = nil
		} else {
			review = shown.Review
		}
		return out.Send("report", shown)
	}
	for {
		if (report.Done || report.Known) && !report.Table {
			s.keep(at.g, report)
		}
		if err := send(report); err != nil || report.Done || report.Table {
			return err
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
	}
}

// The times of a review: of the first search of each position, and of all searches together.
const (
	reviewTime = 500 * time.Millisecond
	reviewMost = 10 * time.Second
)

// review implements /view/…/review: it finds the values of all positions of a play that have none yet, as far as
// searches prove them. It begins with the last position, because the search keeps what it finds for earlier ones;
// then it searches those that remain again, for longer. Before each search it sends the review, with how many positions have a value.
func (s *Server) review(ctx context.Context, out Stream, at *state) error {
	all := at.Whole().Positions()
	unknown := slices.DeleteFunc(slices.Clone(all), func(p game.Position) bool { return s.worth(at.g, p).Known })
	slices.Reverse(unknown)
	done, limit, until := len(all)-len(unknown), s.reviewTime, time.Now().Add(s.reviewMost)
	for len(unknown) > 0 {
		left := unknown[:0]
		for _, p := range unknown {
			rest := time.Until(until)
			if rest <= 0 {
				return nil
			}
			review, err := s.reviewOf(at)
			if err != nil {
				return err
			}
			review.Judged += fmt.Sprintf(" %d of %d positions are solved; the search goes on for %.0f s …", done, len(all), math.Ceil(rest.Seconds()))
			if err := out.Send("report", review); err != nil {
				return err
			}
			found, err := s.assess(ctx, at.g, p, min(limit, rest))
			if err != nil {
				return err
			}
			if found.Known {
				done++
			} else {
				left = append(left, p)
			}
		}
		unknown, limit = left, min(2*limit, quantum)
	}
	return nil
}

// assess returns what is known of a position: its value and best play, as a search finds them within a limit unless they are known.
func (s *Server) assess(ctx context.Context, g *served, p game.Position, limit time.Duration) (report analysis.Report, err error) {
	if report = s.begin(g, p); report.Done || report.Known && len(report.Line) > 0 {
		return report, nil
	}
	err = s.withSlot(ctx, g, func(sl *slot) (err error) {
		if report, err = sl.analyzer.Assess(ctx, p, limit); err == nil && report.Known {
			s.keep(g, report)
		}
		return err
	})
	return report, err
}
