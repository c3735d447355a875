// Package export writes positions of a table as lines: tab-separated, CSV or JSON. It knows no
// command lines.
package export

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	Game   game.Game
	Form   Form
	Wanted func(game.Value) bool // selects positions by value
	Scan   *table.Scan           // selects them by tier
	Out    io.Writer
	Dots   bool // write the spaces of a position as dots
	// Canonical means that of a position and its images the canonical one is written, see game.CanonicalOf, and not all.
	Canonical bool
}

// wants reports whether a position with a value is written.
func (x *Exporter) wants(p game.Position, v game.Value) bool {
	return x.Wanted(v) && (!x.Canonical || game.CanonicalOf(x.Game, p) == p)
}

// A liner formats positions as lines. Each worker has its own.
type liner struct {
	*Exporter
	ends map[valueOf]string
	last valueOf // the value that end belongs to
	end  string
}

// A valueOf is a value and the player to move of its position.
type valueOf struct {
	value  game.Value
	toMove game.Player
}

func (x *Exporter) liner() *liner {
	return &liner{Exporter: x, ends: make(map[valueOf]string)}
}

// append appends the line of a position.
func (l *liner) append(dst []byte, p game.Position, v game.Value) []byte {
	dst = append(dst, l.Form.before...)
	from := len(dst)
	dst = l.Game.AppendText(dst, p)
	if l.Dots {
		Dotted(dst[from:])
	}
	if l.Form.board != nil {
		dst = l.Form.board(dst, from)
	}
	dst = strconv.AppendUint(append(dst, l.Form.middle...), p, 10)
	if of := (valueOf{v, l.Game.ToMove(p)}); of != l.last || l.end == "" {
		l.last, l.end = of, l.endOf(of, p)
	}
	return append(dst, l.end...)
}

// endOf returns the part of a line after the hash, for a position with this value.
func (l *liner) endOf(of valueOf, p game.Position) string {
	end, ok := l.ends[of]
	if !ok {
		worth := notation.ValueOf(l.Game, p, of.value)
		end = l.Form.after(worth.Word(), worth.Number(), l.Game.Values().Word(of.value.Outcome()))
		l.ends[of] = end
	}
	return end
}

// pieceBytes is the number of bytes that are written at a time.
const pieceBytes = 256 << 10

// All writes every wanted position, in the order of the table.
func (x *Exporter) All(ctx context.Context) error {
	out := bufio.NewWriterSize(x.Out, pieceBytes)
	workers := runtime.GOMAXPROCS(0)
	x.Scan.Images = !x.Canonical
	// A worker has one piece that it fills, and two that wait to be written.
	err := parallel.InOrder(ctx, workers, 3*workers, parallel.Work[int, *[]byte]{
		Next:  parallel.Numbers(x.Scan.Len()),
		Chunk: func() *[]byte { return new([]byte) },
		Worker: func() func(int, *[]byte) error {
			r, l, b := x.Scan.Reader(), x.liner(), new(table.Batch)
			return func(batch int, lines *[]byte) error {
				if err := r.Read(batch, b); err != nil {
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

// appendBatch appends the lines of the wanted positions of a batch.
func (l *liner) appendBatch(dst []byte, b *table.Batch) []byte {
	for i, p := range b.Positions {
		if l.wants(p, b.Values[i]) {
			dst = l.append(dst, p, b.Values[i])
		}
	}
	return dst
}

// A picked position is a position of a sample.
type picked struct {
	order    uint64 // the sample consists of the positions with the lowest
	tier     int
	position game.Position
	value    game.Value
}

// shuffled returns a pseudorandom number for a position and a seed. Different positions have
// different numbers: it is the finisher of SplitMix64, which is a bijection.
func shuffled(p game.Position, seed uint64) uint64 {
	z := p + seed*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Sample writes n random positions of those that are wanted, or all if there are fewer.
func (x *Exporter) Sample(ctx context.Context, n int, seed uint64) error {
	if _, mirrored := x.Game.(game.Mirrored); x.images() != nil || x.Canonical && mirrored {
		return x.sampleAll(ctx, n, seed)
	}
	batches, ok, err := x.Scan.Sample(ctx, uint64(n), seed, x.Wanted)
	if err != nil {
		return err
	}
	if !ok {
		return x.sampleAll(ctx, n, seed)
	}
	return x.write(batches)
}

// write writes the positions of batches.
func (x *Exporter) write(batches []table.Batch) error {
	out, l := bufio.NewWriterSize(x.Out, pieceBytes), x.liner()
	for _, b := range batches {
		out.Write(l.appendBatch(out.AvailableBuffer(), &b)) // Flush returns an error of it
	}
	return out.Flush()
}

// images returns the game if images of positions are written, or else nil.
func (x *Exporter) images() game.Symmetric {
	if g, ok := x.Game.(game.Symmetric); ok && !x.Canonical {
		return g
	}
	return nil
}

// sampleAll reads all positions, and writes those n wanted positions to which shuffled gives
// the lowest numbers.
func (x *Exporter) sampleAll(ctx context.Context, n int, seed uint64) error {
	var mu sync.Mutex // protects all and most
	var all []picked  // the sample is among them
	most := uint64(math.MaxUint64)
	lowest := func() {
		slices.SortFunc(all, func(a, b picked) int { return cmp.Compare(a.order, b.order) })
		all = all[:min(n, len(all))]
	}
	if err := parallel.Each(ctx, runtime.GOMAXPROCS(0), x.Scan.Len(), 1, func() func(int) error {
		r, b := x.Scan.Reader(), new(table.Batch)
		var found []picked
		images, symmetric := make([]game.Position, 1), x.images()
		return func(i int) error {
			if err := r.Read(i, b); err != nil {
				return err
			}
			mu.Lock()
			limit := most
			mu.Unlock()
			found = found[:0]
			for j, p := range b.Positions {
				if !x.wants(p, b.Values[j]) {
					continue
				}
				if images[0] = p; symmetric != nil {
					images = symmetric.Images(images[:0], p)
				}
				for _, p := range images {
					if order := shuffled(p, seed); order <= limit {
						found = append(found, picked{order, b.Tier, p, b.Values[j]})
					}
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if all = append(all, found...); len(all) >= 2*n {
				lowest()
				most = all[n-1].order
			}
			return nil
		}
	}); err != nil {
		return err
	}
	lowest()
	slices.SortFunc(all, func(a, b picked) int { return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.position, b.position)) })
	batches := make([]table.Batch, len(all))
	for i, p := range all {
		batches[i] = table.Batch{Tier: p.tier, Positions: []game.Position{p.position}, Values: []game.Value{p.value}}
	}
	return x.write(batches)
}
