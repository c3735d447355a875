package train

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/treereduce/treereduce/game"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// WriteAnki writes puzzles as notes for Anki's import of text files: the board and the task on the front,
// the answer and the values of all moves on the back, and the grade as a tag.
func WriteAnki(w io.Writer, puzzles []*Puzzle) error {
	if _, err := io.WriteString(w, "#separator:Comma\n#html:true\n#columns:Front,Back,Tags\n#tags column:3\n"); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	for _, p := range puzzles {
		front := fmt.Sprintf("<pre>%s</pre>%s", template.HTMLEscapeString(p.Board()), template.HTMLEscapeString(p.Task()))
		back := template.HTMLEscapeString(p.Explain(p.Answer()) + "; " + p.others())
		if err := out.Write([]string{front, back, fmt.Sprintf("treereduce grade%d", p.Grade)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// WritePage writes puzzles, at least one, as a page of HTML to print, with the answers at its end.
func WritePage(w io.Writer, puzzles []*Puzzle) error {
	type note struct {
		Number, Grade               int
		Board, Task, Answer, Others string
	}
	var notes []note
	for i, p := range puzzles {
		notes = append(notes, note{i + 1, p.Grade, p.Board(), p.Task(), p.Explain(p.Answer()), p.others()})
	}
	return pageTemplate.Execute(w, map[string]any{"Title": "Puzzles: " + game.TitleOf(puzzles[0].History.Game()), "Puzzles": notes})
}

// Board returns the position as text.
func (p *Puzzle) Board() string {
	return strings.TrimRight(p.History.Game().Picture(p.Report.Position).String(), "\n")
}

// others describes the moves that are not the answer.
func (p *Puzzle) others() string {
	var all []string
	for i, m := range p.Report.Moves {
		if i != p.Report.Best {
			all = append(all, p.Explain(m))
		}
	}
	return strings.Join(all, ", ")
}
