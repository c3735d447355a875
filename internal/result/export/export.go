// Package export writes positions of a table as lines: tab-separated, CSV or JSON. It knows no
// command lines.
package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/table"
)

// A Form is an output format: the header line, if it has one, the text before the board, between
// the board and the hash, and after the hash (value, remoteness and outcome).
type Form struct {
	Header         string
	before, middle string
	board          func(dst []byte, from int) []byte // edits dst[from:], the text of the board, in place
	after          func(value, remoteness, outcome string) string
}

// Forms contains the formats by name.
var Forms = map[string]Form{
	"tsv": {
		middle: "\t",
		after: func(value, remoteness, outcome string) string {
			return "\t" + value + "\t" + remoteness + "\t" + outcome + "\n"
		},
	},
	"csv": {
		Header: "position,hash,value,remoteness,outcome\n", middle: ",", board: quoteCSV,
		after: func(value, remoteness, outcome string) string {
			return "," + value + "," + remoteness + "," + string(quoteCSV([]byte(outcome), 0)) + "\n"
		},
	},
	"jsonl": {
		before: `{"position":`, middle: `,"hash":`, board: quoteJSON,
		after: func(value, remoteness, outcome string) string {
			if remoteness != "" {
				remoteness = `,"remoteness":` + remoteness
			}
			return `,"value":"` + value + `"` + remoteness + `,"outcome":` + string(quoteJSON([]byte(outcome), 0)) + "}\n"
		},
	},
}

// Dotted replaces the spaces of a text with dots.
func Dotted(text []byte) []byte {
	for i, c := range text {
		if c == ' ' {
			text[i] = '.'
		}
	}
	return text
}

// quoteCSV quotes a field if necessary.
func quoteCSV(dst []byte, from int) []byte {
	field := dst[from:]
	if !bytes.ContainsAny(field, ",\"\r\n") {
		return dst
	}
	quoted := `"` + strings.ReplaceAll(string(field), `"`, `""`) + `"`
	return append(dst[:from], quoted...)
}

// quoteJSON makes dst[from:] a JSON string, which need not be of ASCII.
func quoteJSON(dst []byte, from int) []byte {
	if bytes.ContainsFunc(dst[from:], func(r rune) bool { return r < ' ' || r > '~' || r == '\\' || r == '"' }) {
		var quoted bytes.Buffer
		e := json.NewEncoder(&quoted)
		e.SetEscapeHTML(false)
		e.Encode(string(dst[from:])) // a string has no errors
		return append(dst[:from], bytes.TrimSuffix(quoted.Bytes(), []byte{'\n'})...)
	}
	dst = append(dst, '"', '"')
	copy(dst[from+1:], dst[from:len(dst)-2])
	dst[from] = '"'
	return dst
}

// An Exporter writes the positions of a table.
type Exporter struct {
	Table *table.Table
	Of    table.Selection
	Form  Form
	Out   io.Writer
	Dots  bool // write the spaces of a position as dots
}

// A liner formats positions as lines. Each worker has its own.
type liner struct {
	*Exporter
	g    game.Game
	ends map[valueOf]string // what lines have after the hash
}

// A valueOf is a value and the player to move of its position.
type valueOf struct {
	value  game.Value
	toMove game.Player
}

func (x *Exporter) liner() *liner {
	return &liner{Exporter: x, g: x.Table.Game(), ends: make(map[valueOf]string)}
}

// append appends the line of a position.
func (l *liner) append(dst []byte, p game.Position, v game.Value) []byte {
	dst = append(dst, l.Form.before...)
	from := len(dst)
	dst = l.g.AppendText(dst, p)
	if l.Dots {
		Dotted(dst[from:])
	}
	if l.Form.board != nil {
		dst = l.Form.board(dst, from)
	}
	dst = strconv.AppendUint(append(dst, l.Form.middle...), p, 10)
	of := valueOf{v, l.g.ToMove(p)}
	end, ok := l.ends[of]
	if !ok {
		worth := notation.ValueOf(l.g, p, v)
		end = l.Form.after(worth.Word(), worth.Number(), l.g.Values().Word(v.Outcome()))
		l.ends[of] = end
	}
	return append(dst, end...)
}

// pieceBytes is the number of bytes that are written at a time.
const pieceBytes = 256 << 10

// All writes every position of x.Of, in the order of the table.
func (x *Exporter) All(ctx context.Context) error {
	out := bufio.NewWriterSize(x.Out, pieceBytes)
	workers := runtime.GOMAXPROCS(0)
	scan, err := x.Table.Scan(ctx, x.Of)
	if err != nil {
		return err
	}
	// A worker has one piece that it fills, and two that wait to be written.
	err = parallel.InOrder(ctx, workers, 3*workers, parallel.Work[int, *[]byte]{
		Next:  parallel.Numbers(scan.Len()),
		Chunk: func() *[]byte { return new([]byte) },
		Worker: func() func(int, *[]byte) error {
			read, l, b := scan.Reader(), x.liner(), new(table.Batch)
			return func(batch int, lines *[]byte) error {
				if err := read(batch, b); err != nil {
					return err
				}
				*lines = l.appendBatch((*lines)[:0], b)
				return nil
			}
		},
		Write: func(_ int, lines *[]byte) error {
			_, err := out.Write(*lines)
			return err
		},
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// appendBatch appends the lines of the positions of a batch.
func (l *liner) appendBatch(dst []byte, b *table.Batch) []byte {
	for i, p := range b.Positions {
		dst = l.append(dst, p, b.Values[i])
	}
	return dst
}

// Sample writes n random positions, or all if there are fewer; see table.Table.Sample.
func (x *Exporter) Sample(ctx context.Context, n, seed uint64) error {
	batches, err := x.Table.Sample(ctx, n, seed, x.Of)
	if err != nil {
		return err
	}
	out, l := bufio.NewWriterSize(x.Out, pieceBytes), x.liner()
	for _, b := range batches {
		out.Write(l.appendBatch(out.AvailableBuffer(), &b)) // Flush returns an error of it
	}
	return out.Flush()
}
