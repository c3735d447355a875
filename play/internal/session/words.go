package session

import (
	"fmt"

	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
)

// Said returns what a report knows of the current position in words: "X: win in 7", "Estimate: 3 points for X".
func (s *Session) Said(r analysis.Report) string {
	g, turn := s.h.Game(), s.h.Turn()
	switch who := player.Who(g, turn); {
	case r.Known:
		return Capital(who) + ": " + r.Text(g, r.Position)
	case r.Depth > 0:
		return "Estimate: " + r.Estimate(who, player.Who(g, turn.Other()))
	default:
		return Capital(who) + ": not known yet"
	}
}

// mostAhead is the greatest depth that Source tells. A search of a game in which positions repeat soon deepens without new positions.
const mostAhead = 200

// Source tells where a report comes from: "From the table.", "Search: 12 moves ahead, 3000000 positions, 1.5M a second …".
func Source(r analysis.Report) string {
	text := ""
	switch {
	case r.Table:
		return "From the table."
	case r.Book && r.Done:
		text = "From the opening book."
	default:
		text = fmt.Sprintf("Search: %s ahead, %s positions", numfmt.Count(r.Depth, "move"), numfmt.Number(r.Nodes))
		if r.Depth > mostAhead {
			text = fmt.Sprintf("Search: %s positions", numfmt.Number(r.Nodes))
		}
		if r.Time > 0 {
			text += fmt.Sprintf(", %s a second", numfmt.Short(float64(r.Nodes)/r.Time.Seconds()))
		}
		if !r.Done {
			text += " …"
		}
	}
	if r.Trouble != "" {
		text += " " + Capital(r.Trouble) + "."
	}
	return text
}
