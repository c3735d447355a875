package web

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/train"
	"github.com/treereduce/treereduce/search"
)

// puzzleJSON is a position with one task: to find a move that keeps the result.
type puzzleJSON struct {
	View  *viewJSON `json:"view"`
	Task  string    `json:"task"`
	Grade int       `json:"grade,omitempty"` // 0: the position is that of a request
	Level string    `json:"level,omitempty"` // Grade in words
	ID    string    `json:"id"`              // of the position and its symmetric images
}

// puzzle implements /puzzle: a puzzle from the table of a game or, without the parameter grade, the last position of a play.
func (s *Server) puzzle(r *Request) (any, error) {
	at, err := s.state(r)
	if err != nil {
		return nil, err
	}
	g, query := at.g, r.Parameters()
	p, level := &train.Puzzle{History: at.History()}, ""
	if query.Has("grade") {
		bands := train.Bands()
		band := slices.IndexFunc(bands, func(b train.Band) bool { return b.Name == query.Get("grade") })
		switch {
		case band < 0:
			return nil, badRequest(fmt.Errorf("grade %q: expected easy, medium or hard", query.Get("grade")))
		case g.table == nil:
			return nil, NotFound(fmt.Errorf("%s has no table here, which puzzles need", g.title()))
		case query.Has("seed"):
			p, err = s.anotherPuzzle(r.Context(), g, bands[band], query.Get("seed"), query.Get("without"))
		default:
			p, err = s.dailyPuzzle(r.Context(), g, query.Get("date"), band)
		}
		if err == nil {
			level = fmt.Sprintf("grade %d of %d", p.Grade, train.Grades)
			if p.Grade < bands[band].Lowest {
				level += "; none harder was found"
			}
		}
	} else if _, over := p.History.Finished(); over {
		err = badRequest(errors.New("the game is over: there is no move to find"))
	} else {
		p.Report, err = s.proven(r.Context(), g, p.History.Position())
	}
	if errors.Is(err, train.ErrNone) {
		err = NotFound(err)
	}
	if err != nil {
		return nil, err
	}
	at.begin(p.History)
	at.Analysing = false // the page shows no values
	id := strconv.FormatUint(game.CanonicalOf(g.g, p.Report.Position), 10)
	view, err := s.viewOf(at)
	return puzzleJSON{view, p.Task(), p.Grade, level, id}, err
}

// mostDays is the number of days and games whose puzzles are kept.
const mostDays = 1000

// dailyPuzzle returns a puzzle of the day. It follows from the game, the value of its initial position and the date, so that
// it is the same everywhere, whatever the files of the table. A puzzle belongs either to even or to odd days, so that those of two
// days in a row differ, unless one of them has no puzzle of its own.
func (s *Server) dailyPuzzle(ctx context.Context, g *served, date string, band int) (*train.Puzzle, error) {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return nil, badRequest(fmt.Errorf("date %q: expected a date such as 2006-01-02", date))
	}
	key := g.g.Spec() + " " + date
	s.mu.Lock()
	found := s.daily[key]
	s.mu.Unlock()
	if found != nil {
		return found[band], nil
	}
	start, _, err := g.table.Lookup(g.g.Start())
	if err != nil {
		return nil, err
	}
	odd := uint64(day.Unix()/(24*60*60)) % 2
	err = s.withFinder(ctx, g, hash(key, int(start)), func(f *train.Finder) error {
		f.Skip = func(canonical game.Position) bool { return hash(canonical)%2 != odd }
		var last *train.Puzzle
		for _, b := range train.Bands() {
			p, err := f.Near(ctx, b.Lowest, b.Highest)
			if err == train.ErrNone && last == nil {
				f.Skip = nil
				p, err = f.Near(ctx, b.Lowest, b.Highest)
			}
			if err == nil {
				last = p
			} else if err != train.ErrNone || last == nil {
				return err
			}
			found = append(found, last) // again, if there are few puzzles
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, (*train.Puzzle).Compare) // the nearest grades can be lower than those of the band before
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.daily) >= mostDays {
		clear(s.daily)
	}
	s.daily[key] = found
	return found[band], nil
}

// hash returns a number that follows from values, everywhere the same.
func hash(of ...any) uint64 {
	sum := fnv.New64a()
	fmt.Fprint(sum, of...)
	return sum.Sum64()
}

// anotherPuzzle returns a puzzle that follows from a seed. without are the IDs of those that it does not return.
func (s *Server) anotherPuzzle(ctx context.Context, g *served, b train.Band, seed, without string) (p *train.Puzzle, err error) {
	n, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return nil, badRequest(fmt.Errorf("seed %q: expected a number", seed))
	}
	known := make(map[game.Position]bool)
	for id := range strings.FieldsFuncSeq(without, func(r rune) bool { return r == ',' }) {
		position, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			return nil, badRequest(fmt.Errorf("without %s: expected numbers with commas between them", player.Quoted(without)))
		}
		known[position] = true
	}
	err = s.withFinder(ctx, g, n, func(f *train.Finder) error {
		f.Skip = func(canonical game.Position) bool { return known[canonical] }
		p, err = f.Near(ctx, b.Lowest, b.Highest)
		return err
	})
	return p, err
}

// withFinder calls do with a finder of puzzles from the table of a game.
func (s *Server) withFinder(ctx context.Context, g *served, seed uint64, do func(*train.Finder) error) error {
	return s.withSlot(ctx, g, func(*slot) error {
		f, err := train.NewFinder(g.g, analysis.New(g.g, g.table, nil, search.Options{}), answerTime, seed)
		if err != nil {
			return err
		}
		return do(f)
	})
}

// proven returns what is known of a position, whose value a search of lineTime finds unless it is known.
func (s *Server) proven(ctx context.Context, g *served, p game.Position) (analysis.Report, error) {
	report, err := s.assess(ctx, g, p, lineTime)
	if err == nil && !report.Known {
		err = problem{503, fmt.Errorf("position %q: a search of %v proves no value", g.g.AppendText(nil, p), lineTime)}
	}
	return report, err
}

// answerJSON is what a move leads to.
type answerJSON struct {
	Right bool       `json:"right"` // it keeps the result
	Move  string     `json:"move"`
	Text  string     `json:"text"`
	Marks []markJSON `json:"marks"` // what is known of all moves, the best first
}

// answer implements /puzzle/…/answer: whether a move keeps the result of the last position of a play, what it leads to, and
// best play after it. Without the parameter move, it is the best one.
func (s *Server) answer(r *Request) (any, error) {
	at, err := s.state(r)
	if err != nil {
		return nil, err
	}
	ctx, g, h, move := r.Context(), at.g, at.History().Clone(), r.Parameters().Get("move")
	p := h.Position()
	before, err := s.proven(ctx, g, p)
	if err != nil {
		return nil, err
	}
	if move == "" {
		move = strings.Join(before.Line[:min(1, len(before.Line))], "")
	}
	if err := h.Play(move); err != nil {
		return nil, badRequest(err)
	}
	after, err := s.proven(ctx, g, h.Position())
	if err != nil {
		return nil, err
	}
	wrong := analysis.IsMistake(g.g, p, before.Worth, after.Worth)
	then := after.Explain(g.g).String()
	after.Value = g.g.Values().Before(after.Value)
	text := move + ": " + after.Text(g.g, p)
	if then != "" {
		text += ", then " + then
	}
	return answerJSON{!wrong, move, text, marksOf(at, s.known(at))}, nil
}
