package command

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/streamfmt"
)

// A source is the texts of stdin, each with the number of its first line; io.EOF after
// the last.
type source func() (text string, line int64, err error)

// linesOf are lines, each a text.
func linesOf(r *streamfmt.LineReader) source {
	number := int64(0)
	return func() (string, int64, error) {
		line, err := r.Next()
		number++
		return string(bytes.TrimSuffix(line, []byte{'\r'})), number, err
	}
}

// drawings are lines, of which those that draw a board together are one text.
//
// Such a board begins with a line of its form: a blank, a bracket or a label, and then as many
// pieces as the first row of the board has squares, or the labels above it. One that has
// an empty square among them is no position by itself, for there blanks and points would
// be mixed; another may not be one. It goes on to its base line, if it can be read by
// then; otherwise to an empty line, or to the line below it that the commands print, which
// begins with its text in double quotes. A line that is of another form ends it too, and
// is taken for itself. So whoever waits for an answer never has to send more than an empty
// line for it.
//
// What the commands print below a board is passed over after it.
type drawings struct {
	g     game.Game
	lines source
	all   bool         // every line is of a board
	like  game.Picture // any

	kept   *numbered // read, and not yet taken
	below  bool      // a board was read last
	board  game.Position
	isRead bool // and it is board
}

// numbered is a line with its number.
type numbered struct {
	text string
	at   int64
}

// newDrawings gathers the boards among lines of positions of g; all says that there is
// nothing else.
func newDrawings(g game.Game, lines source, all bool) *drawings {
	return &drawings{g: g, lines: lines, all: all, like: g.Picture(g.Start())}
}

// line is the next line.
func (d *drawings) line() (numbered, error) {
	if kept := d.kept; kept != nil {
		d.kept = nil
		return *kept, nil
	}
	text, at, err := d.lines()
	return numbered{text, at}, err
}

// next is a source.
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

// gather is the board that begins with this line.
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

// read reads a board.
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
	_, err := ParseAsked(d.g, line, AnyForm)
	return err != nil
}

// isRow reports whether a line can be a further row of a board.
func (d *drawings) isRow(line string) bool {
	fields := game.PictureFields(line)
	return slices.ContainsFunc(d.like.Rows, func(row []game.Square) bool {
		n := squaresIn(row)
		return len(fields) == n || d.like.Left != nil && len(fields) == n+1
	})
}

// isBase reports whether a line is the labels below a board.
func (d *drawings) isBase(line string) bool {
	return d.like.Below != nil && slices.Equal(game.PictureFields(line), labelsOf(d.like.Below))
}

// labelsOf are labels that are no blanks.
func labelsOf(labels []string) []string { return game.PictureFields(strings.Join(labels, " ")) }

// squaresIn is how many squares of a row are drawn.
func squaresIn(row []game.Square) (n int) {
	for _, s := range row {
		if s.Text != "" {
			n++
		}
	}
	return n
}

// saidBelow are the lines that lookup and find-winner print below a board and what it is
// worth: the moves, best play, the positions before, what it took.
var saidBelow = regexp.MustCompile(`^((\* |  )\S.*: (you |draw)|best (play|move)( so far)?: |from "|\d+ positions\b)`)

// isBelow reports whether a line is one that stands below the board before it.
func (d *drawings) isBelow(line string) bool {
	if quoted, err := strconv.QuotedPrefix(line); err == nil && d.isRead && quoted[0] == '"' {
		board, err := strconv.Unquote(quoted)
		if err != nil {
			return false
		}
		p, err := d.g.Parse(board)
		return err == nil && p == d.board && line != quoted
	}
	return saidBelow.MatchString(line)
}
