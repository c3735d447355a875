package command

import (
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/streamfmt"
)

// A source returns the texts of stdin one by one, each with the number of its first line; after
// the last it returns io.EOF.
type source func() (text string, line int64, err error)

// linesOf returns a source in which each line is a text.
func linesOf(r *streamfmt.LineReader) source {
	number := int64(0)
	return func() (string, int64, error) {
		line, err := r.Next()
		number++
		return string(line), number, err
	}
}

// drawings is a source that combines the lines that draw a board into one text.
//
// A board begins with a line that starts with a blank, a bracket or a label, followed by as
// many pieces as the first row of the board has squares, or by the labels above it. If one of
// these squares is drawn as empty, the line is always the beginning of a board, because text
// that mixes blanks and dots is not a position; otherwise only if it cannot be parsed as a
// position. The board ends at its base line, if the text can be parsed by then; otherwise at an
// empty line, or at the line that the commands print below a board, which begins with the
// board's text in double quotes. A line of another form also ends the board, and is processed
// on its own. A client that waits for an answer therefore never has to send more than an empty
// line.
//
// The lines that the commands print below a board are skipped.
type drawings struct {
	g     game.Game
	lines source
	all   bool         // every line belongs to a board
	like  game.Picture // the picture of any position

	kept   *numbered // a line that was read and not yet used
	below  bool      // the last text was a board
	board  game.Position
	isRead bool // board is its position
}

// numbered is a line with its number.
type numbered struct {
	text string
	at   int64
}

// newDrawings returns a source that finds the boards among lines of positions of g. If all is
// true, the lines contain nothing else.
func newDrawings(g game.Game, lines source, all bool) *drawings {
	return &drawings{g: g, lines: lines, all: all, like: g.Picture(g.Start())}
}

// line returns the next line.
func (d *drawings) line() (numbered, error) {
	if kept := d.kept; kept != nil {
		d.kept = nil
		return *kept, nil
	}
	text, at, err := d.lines()
	return numbered{text, at}, err
}

// next implements source.
func (d *drawings) next() (text string, at int64, err error) {
	for {
		first, err := d.line()
		switch {
		case err != nil:
			return "", 0, err
		case d.below && d.isBelow(first.text), d.all && blank(first.text):
		case d.all || d.begins(first.text):
			text, err := d.gather(first.text)
			return text, first.at, err
		default:
			d.below = false
			return first.text, first.at, nil
		}
	}
}

// gather reads the rest of the board that begins with this line.
func (d *drawings) gather(text string) (string, error) {
	rows := 1
	if d.like.Above != nil && slices.Equal(game.PictureFields(text), labelsOf(d.like.Above)) {
		rows = 0
	}
	for based := false; ; {
		if d.board, d.isRead = d.read(text); d.isRead && based {
			break
		}
		l, err := d.line()
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
		if blank(l.text) {
			break
		}
		if strings.HasPrefix(l.text, `"`) {
			text += "\n" + l.text
			d.board, d.isRead = d.read(text)
			break
		}
		if rows < len(d.like.Rows) && (d.all || d.isRow(l.text)) {
			rows++
		} else if based = !based && rows == len(d.like.Rows) && d.isBase(l.text); !based {
			d.kept = &l
			break
		}
		text += "\n" + l.text
	}
	d.below = true
	return text, nil
}

// read parses a board.
func (d *drawings) read(text string) (p game.Position, ok bool) {
	p, err := game.ReadPicture(d.g, text)
	return p, err == nil
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// begins reports whether a line is the first of a board.
func (d *drawings) begins(line string) bool {
	labelled := d.like.Left != nil && strings.HasPrefix(line, d.like.Left[0]+" ")
	if line == "" || line[0] != ' ' && line[0] != '[' && !labelled {
		return false
	}
	fields := game.PictureFields(line)
	if labelled || d.like.Left != nil && len(fields) > 0 && fields[0] == d.like.Left[0] {
		fields = fields[1:]
	}
	switch {
	case len(fields) == 0:
		return false
	case len(fields) == squaresIn(d.like.Rows[0]):
		if slices.Contains(fields, game.Empty) {
			return true
		}
	case !slices.Equal(fields, labelsOf(d.like.Above)):
		return false
	}
	_, err := notation.Parse(d.g, line, notation.AnyForm)
	return err != nil
}

// isRow reports whether a line can be another row of a board.
func (d *drawings) isRow(line string) bool {
	fields := game.PictureFields(line)
	return slices.ContainsFunc(d.like.Rows, func(row []game.Square) bool {
		n := squaresIn(row)
		return len(fields) == n || d.like.Left != nil && len(fields) == n+1
	})
}

// isBase reports whether a line consists of the labels below a board.
func (d *drawings) isBase(line string) bool {
	return d.like.Below != nil && slices.Equal(game.PictureFields(line), labelsOf(d.like.Below))
}

// labelsOf returns the labels that are not blank.
func labelsOf(labels []string) []string { return game.PictureFields(strings.Join(labels, " ")) }

// squaresIn returns the number of squares of a row that are drawn.
func squaresIn(row []game.Square) (n int) {
	for _, s := range row {
		if s.Text != "" {
			n++
		}
	}
	return n
}

// belowBoard matches the lines that lookup and find-winner print below a board and its value:
// the moves, best play, the predecessors, and the effort of the search.
var belowBoard = regexp.MustCompile(`^((\* |  )\S.*: (you |draw)|best (play|move)( so far)?: |from "|[\d,]+ positions\b)`)

// isBelow reports whether a line belongs to the output below the previous board.
func (d *drawings) isBelow(line string) bool {
	if quoted, err := strconv.QuotedPrefix(line); err == nil && d.isRead && quoted[0] == '"' {
		board, err := strconv.Unquote(quoted)
		if err != nil {
			return false
		}
		p, err := d.g.Parse(board)
		return err == nil && p == d.board && line != quoted
	}
	return belowBoard.MatchString(line)
}
