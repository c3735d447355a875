package web

import (
	"html/template"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/session"
)

// The following types are the JSON of what is known of a position, and of the play that led to it.
type (
	reportJSON struct {
		Done     bool                     `json:"done"`  // a search finds no more
		Marks    []markJSON               `json:"marks"` // the moves, the best first; null: their values are not shown
		Best     string                   `json:"best,omitempty"`
		Line     []string                 `json:"line"` // best play
		Practice *practiceJSON            `json:"practice,omitempty"`
		Report   map[string]template.HTML `json:"report"` // the content of elements of the page, by ID
		reviewJSON
	}
	// reviewJSON is the review of a play, with the moves that were taken back.
	reviewJSON struct {
		Judged   string                   `json:"judged"`           // see session.Judged
		Open     bool                     `json:"open"`             // not all moves are judged
		Practise bool                     `json:"practise"`         // there are mistakes to practise
		Mistakes [][2]int                 `json:"mistakes"`         // the number of moves before each mistake, and the side that made it
		Review   map[string]template.HTML `json:"review,omitempty"` // the content of elements of the page, by ID; nil: as before
	}
	// markJSON is a position or a move, and what is known of it. The page reads the fields with a name in JSON; templates read all.
	markJSON struct {
		Name  string `json:"name"`
		Value string `json:"value,omitempty"` // win, lose, tie or draw; "" if it is not known
		Text  string `json:"text"`            // "▲7" or, for an evaluation, "+3"
		Glyph string `json:"-"`               // of Value
		Ends  string `json:"-"`               // the number of moves to the end; "" if it is not known
		Word  string `json:"-"`               // the value, or an evaluation
		Score int    `json:"-"`               // the evaluation
	}
	// practiceJSON is what a practice shows.
	practiceJSON struct {
		Asked string `json:"asked"`
		Right bool   `json:"right"`           // the last move that was tried is right
		Wrong string `json:"wrong,omitempty"` // the last move that was tried, if it is wrong
		Over  bool   `json:"over"`
	}
)

// The words and signs for results.
var (
	words  = [...]string{game.Draws: "draw", game.Loses: "lose", game.Wins: "win", game.Ties: "tie"}
	glyphs = [...]string{game.Draws: "∞", game.Loses: "▼", game.Wins: "▲", game.Ties: "="}
)

// markOf describes what is known of a position with a player to move, or of a move at it.
func markOf(g game.Game, p game.Position, turn game.Player, name string, w analysis.Worth) markJSON {
	m := markJSON{Name: name, Text: "·", Glyph: "?"}
	switch short := w.Short(g, p); {
	case w.Known:
		r := analysis.ResultOf(g, p, w.Value)
		m.Value, m.Glyph, m.Ends, m.Word = words[r], glyphs[r], short[1:], notation.ValueOf(g, p, w.Value).Word()
		m.Text = m.Glyph + m.Ends
	case w.Depth > 0:
		m.Text, m.Glyph, m.Score, m.Word = short, "", w.Score, w.Estimate(player.Who(g, turn), player.Who(g, turn.Other()))
	}
	return m
}

// marksOf describes the moves of a report, the best first.
func marksOf(at *state, r analysis.Report) []markJSON {
	marks := []markJSON{}
	for _, i := range r.Order(at.g.g) {
		marks = append(marks, markOf(at.g.g, r.Position, at.History().Turn(), r.Moves[i].Name, r.Moves[i].Worth))
	}
	return marks
}

// reportOf returns what the page shows of a position, of which r is known, and of its play.
func (s *Server) reportOf(at *state, r analysis.Report) (out reportJSON, err error) {
	g, over, most, estimated := at.g.g, "", 10, false
	out = reportJSON{Done: r.Done || r.Table || at.Over(), Line: append([]string{}, r.Line...), Practice: practiceOf(at, r)}
	if at.Over() {
		over = at.State()
	}
	if r.Best >= 0 {
		out.Best = r.Moves[r.Best].Name
	}
	marks, summary := marksOf(at, r), r.Summary(g)
	if at.Shows(r) {
		out.Marks = marks
	}
	for _, m := range marks {
		most, estimated = max(most, m.Score, -m.Score), estimated || m.Value == "" && m.Word != ""
	}
	if estimated {
		summary = "Points are an estimate of the search: the more, the better for that side."
	}
	if why := r.Why(g); why != "" {
		summary = strings.TrimSpace(summary + " " + session.Capital(why) + ".")
	}
	out.Report, err = s.elements(map[string]any{
		"Over": over, "Worth": markOf(g, r.Position, at.History().Turn(), "", r.Worth), "Said": at.Said(r), "Source": session.Source(r),
		"Summary": summary, "Marks": marks, "Best": out.Best, "Most": most, "Width": 2 * most,
	}, "known", "summary", "moves")
	if err == nil {
		out.reviewJSON, err = s.reviewOf(at)
	}
	return out, err
}

// elements returns the content of elements of the page, which templates of their IDs make of data.
func (s *Server) elements(data any, ids ...string) (map[string]template.HTML, error) {
	all := make(map[string]template.HTML)
	for _, id := range ids {
		content, err := s.Render(id, data)
		if err != nil {
			return nil, err
		}
		all[id] = content
	}
	return all, nil
}

// practiceOf returns what a practice shows, by what is known of the position; nil if there is none.
func practiceOf(at *state, r analysis.Report) *practiceJSON {
	if at.Practice == nil {
		return nil
	}
	task, verdict := at.Asked(r)
	p := &practiceJSON{Asked: strings.TrimSpace(task + "\n" + verdict), Over: at.Practice.Over(), Right: at.Right(r)}
	if n := len(at.Practice.Tries); n > 0 && !p.Right && !p.Over {
		last := at.Practice.Tries[n-1]
		if slices.ContainsFunc(r.Moves, func(m analysis.Move) bool { return m.Name == last && m.Known }) {
			p.Wrong = last
		}
	}
	return p
}

// A plyView is a row of the value history: the position after some moves. A win is on the side of the player who wins, the
// sooner, the farther from the centre.
type plyView struct {
	Ply, Before int // the number of moves, and that number less one
	Move        string
	Class, Text string // what is known of its value
	X, From     int    // the column of its point, and of the one before
	Mistake     string // what Move gave away; "": nothing is known
}

// The columns of the value history: the farthest ones are historyWidth from the centre, and those of the longest wins historyInner.
const (
	historyWidth = 110
	historyInner = 14
)

// reviewOf returns the review of a play.
func (s *Server) reviewOf(at *state) (out reviewJSON, err error) {
	g, h := at.g.g, at.Whole()
	judgments, reports := s.judge(at.g, h)
	out = reviewJSON{Judged: session.Judged(h, judgments), Mistakes: [][2]int{}}
	longest := 1
	for _, r := range reports {
		longest = max(longest, r.Value.Remoteness())
	}
	plies := make([]plyView, len(reports))
	for i, r := range reports {
		m, turn := markOf(g, r.Position, h.Mover(i), "", r.Worth), h.Mover(i)
		row := plyView{Ply: i, Before: i - 1, Class: m.Value, Text: m.Word}
		if i > 0 {
			row.Move, row.From = judgments[i-1].Move, plies[i-1].X
		}
		switch m.Value {
		case "":
			row.Class, row.Text = "unknown", "not known"
		case "win", "lose":
			winner := turn
			if m.Value == "lose" {
				winner = turn.Other()
			}
			row.Class, row.Text = [...]string{"first", "second"}[winner], player.Who(g, winner)
			row.X = (historyWidth + historyInner) / 2 // it is not known when the game ends
			if m.Ends != "" {
				row.Text += " in " + m.Ends
				row.X = historyWidth - (historyWidth-historyInner)*r.Value.Remoteness()/longest
			}
			if winner == game.First {
				row.X = -row.X
			}
		}
		plies[i] = row
	}
	for i, j := range judgments {
		out.Open = out.Open || !j.Known()
		if j.Mistake {
			plies[i+1].Mistake = session.Mistake(h, i, j)
			out.Mistakes = append(out.Mistakes, [2]int{i, int(h.Mover(i))})
			out.Practise = out.Practise || at.Practises(h.Mover(i))
		}
	}
	out.Review, err = s.elements(map[string]any{"Plies": plies, "Longest": longest, "First": player.Who(g, game.First), "Second": player.Who(g, game.Second)}, "mistakes", "history")
	return out, err
}
