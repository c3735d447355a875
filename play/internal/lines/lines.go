// Package lines plays games line by line: people type moves and words at a console. After a game it lists the mistakes, and
// lets people practise them.
package lines

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/session"
)

// A Series is a series of games between two players.
type Series struct {
	Entrants [2]referee.Entrant // the first one has the first move
	Humans   [2]bool            // which of them are people at the console
	Settled  bool               // the first player is already chosen
	Once     bool               // end after one game
	Console  *player.Console
	Out      io.Writer
	Analyzer func() (*analysis.Analyzer, error) // finds values for hints, reviews and practices
}

// Play plays games until the human wants no more; without a human, it plays one game.
func (t *Series) Play(ctx context.Context, g game.Game) error {
	t.Console.Undo, t.Console.Hint = true, t.hint
	if t.Humans != [2]bool{} {
		fmt.Fprintln(t.Out, "help lists moves and other words")
	}
	both := referee.Pairing{Entrants: t.Entrants}
	defer both.Close()
	for first := 0; ; {
		if t.Humans[0] != t.Humans[1] && !t.Settled && !g.Info().NamedFirst {
			second, err := t.ask(ctx, "Who moves first", t.Entrants[first].Name, t.Entrants[1-first].Name)
			if err != nil {
				return err
			}
			first ^= second
		}
		people := [2]bool{t.Humans[first], t.Humans[1-first]}
		rules := referee.Rules{Grace: referee.DefaultGrace, Watch: func(p referee.Played) { Show(t.Out, p, true) }}
		played, err := both.Play(ctx, g, rules, first, nil)
		if err != nil {
			return err
		}
		s, end := session.Continue(played, people), played.Text(g.Values())
		if s.Persons() > 0 && !played.Fault() {
			end = s.State()
		}
		if _, err := fmt.Fprintln(t.Out, end); err != nil || s.Persons() == 0 || t.Once {
			return err
		}
		if again, err := t.after(ctx, s); err != nil || !again {
			return err
		}
	}
}

// Show prints the last move of a play, and, if board is true, the board.
func Show(out io.Writer, p referee.Played, board bool) {
	h := p.History
	if n := len(h.Names()); n > 0 {
		mover := h.Mover(n - 1)
		who := fmt.Sprintf("%s (%s)", player.Who(h.Game(), mover), p.Players[mover])
		if h.Game().Values().Puzzle {
			who = p.Players[mover]
		}
		fmt.Fprintf(out, "%s: %s\n", who, h.Names()[n-1])
	}
	if board {
		fmt.Fprint(out, h.Game().Picture(h.Position()))
	}
}

// hint returns the best move.
func (t *Series) hint(ctx context.Context, h *player.History) (string, error) {
	z, err := t.Analyzer()
	if err != nil {
		return "", err
	}
	r, err := z.Assess(ctx, h.Position(), player.HintTime)
	if err != nil {
		return "", err
	}
	return r.Moves[r.Best].Name, nil
}

// valuesTime is the time of the search of the values of the moves at a mistake that is practised.
const valuesTime = 5 * time.Second

// after asks what to do after a game until that is another game, or none.
func (t *Series) after(ctx context.Context, s *session.Session) (again bool, err error) {
	h := s.History()
	var z *analysis.Analyzer
	var judgments []analysis.Judgment
	for {
		answer, err := t.ask(ctx, "Play again", "yes", "no", "review", "practise")
		if err != nil || answer < 2 {
			return answer == 0, err
		}
		if z == nil {
			if z, err = t.Analyzer(); err != nil {
				return false, err
			}
			fmt.Fprintf(t.Out, "looking for mistakes in %s\n", numfmt.Count(len(h.Names()), "move"))
			if judgments, err = z.Judge(ctx, h, 0, analysis.JudgeTime); err != nil {
				return false, err
			}
		}
		if answer == 3 {
			if err := t.practise(ctx, z, s, judgments); err != nil {
				return false, err
			}
			continue
		}
		fmt.Fprintln(t.Out, session.Judged(h, judgments))
		for _, mistake := range session.Mistakes(h, judgments) {
			fmt.Fprintln(t.Out, mistake)
		}
	}
}

// practise lets people look for better moves than their mistakes.
func (t *Series) practise(ctx context.Context, z *analysis.Analyzer, s *session.Session, judgments []analysis.Judgment) error {
	if err := s.Practise(judgments); err != nil {
		_, err = fmt.Fprintln(t.Out, err)
		return err
	}
	defer s.Resume()
	var r analysis.Report
	for at := -1; !s.Practice.Over(); {
		h := s.History()
		if s.Practice.At != at {
			at = s.Practice.At
			var err error
			if r, err = z.AllValues(ctx, h.Position(), valuesTime); err != nil {
				return err
			}
			task, _ := s.Asked(r)
			fmt.Fprintf(t.Out, "%s%s\n", h.Game().Picture(h.Position()), task)
		}
		line, err := t.Console.Line(ctx)
		if err != nil {
			return err
		}
		switch word := player.Word(line); word {
		case player.Quit:
			return player.ErrLeft
		case "stop":
			return nil
		case "skip":
			s.Next(r)
		default:
			name, err := player.Named(h, line)
			if err != nil {
				fmt.Fprintf(t.Out, "%v; or skip, stop, quit\n", err)
				continue
			}
			if err := s.Play(name); err != nil {
				return err
			}
			_, verdict := s.Asked(r)
			fmt.Fprintln(t.Out, verdict)
			if s.Right(r) {
				s.Next(r)
			}
		}
	}
	task, _ := s.Asked(r)
	_, err := fmt.Fprintln(t.Out, task)
	return err
}

// ask repeats a question until the answer is one of those given, or the first letter of one, in any case; it returns
// the index of the answer.
func (t *Series) ask(ctx context.Context, question string, answers ...string) (int, error) {
	last := len(answers) - 1
	choice := strings.Join(answers[:last], ", ") + " or " + answers[last]
	for {
		if _, err := fmt.Fprintf(t.Out, "%s, %s?\n", question, choice); err != nil {
			return 0, err
		}
		line, err := t.Console.Line(ctx)
		if err != nil {
			return 0, err
		}
		if i := slices.IndexFunc(answers, func(a string) bool { return strings.EqualFold(line, a) || strings.EqualFold(line, a[:1]) }); i >= 0 {
			return i, nil
		}
		expected := choice + ", their first letter, or quit"
		switch player.Word(line) {
		case player.Quit:
			return 0, player.ErrLeft
		case player.Help:
			fmt.Fprintf(t.Out, "answer %s\n", expected)
		default:
			fmt.Fprintf(t.Out, "expected %s; found %q\n", expected, line)
		}
	}
}
