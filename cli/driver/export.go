package driver

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/table"
)

func (p *program) exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "export positions of a table, one per line",
		UsageText: "driver export [--data DIRECTORY] [--format tsv|csv|jsonl] [--tier N] [--outcome WORD] [--remoteness N] [--sample N] [--dots]",
		Description: "Each line is a position with the fields of lookup --json: position, hash, value (win, lose, tie or draw, for\n" +
			"the player to move) and remoteness (moves to the end; empty for a draw), then outcome (the value in the game's\n" +
			"words), in the order of tiers and hashes, after a header. N may be a range: 3-5.\n" +
			"Spreadsheets drop leading blanks: --dots writes points instead, which all commands read.\n\n" +
			"   driver export --tier 1 --outcome X --remoteness 16 --format csv >tier1.csv\n" +
			"   driver export --sample 1000 --seed 1 --format jsonl",
		Flags: []cli.Flag{
			p.dataFlag(),
			&cli.StringFlag{Name: "format", Usage: "tsv, csv or jsonl (JSON lines, without a header)", Value: "tsv"},
			&cli.StringFlag{Name: "tier", Usage: "only tier `N`"},
			&cli.StringFlag{Name: "outcome", Aliases: []string{"value"}, Usage: "only this outcome: a `WORD` of the game (X, O, tie; win, lose, tie, draw), or a value byte"},
			&cli.StringFlag{Name: "remoteness", Usage: "only positions `N` moves from the end"},
			&cli.BoolFlag{Name: "dots", Usage: "write blanks as points"},
			&cli.Uint64Flag{Name: "sample", Usage: "`N` positions at random, uniformly"},
			&cli.Uint64Flag{Name: "seed", Usage: "random seed, for a reproducible sample", DefaultText: "a different one each time"},
			&cli.BoolFlag{Name: "header", Usage: "write a header line with the names of the fields", Value: true},
		},
		Action: func(c *cli.Context) error { return p.export(c) },
	}
}

// mostSample is the maximum size of a sample: each worker keeps that many positions in memory.
const mostSample = 10_000_000

// export implements driver export.
func (p *program) export(c *cli.Context) error {
	if err := command.NoArguments(c, ": --data names the directory"); err != nil {
		return err
	}
	if n := c.Uint64("sample"); c.IsSet("sample") && (n == 0 || n > mostSample) {
		return command.Usagef("--sample %d: expected 1 to %d positions", n, mostSample)
	}
	if c.IsSet("seed") && !c.IsSet("sample") {
		return command.Usagef("--seed requires --sample N")
	}
	form, ok := exportForms[c.String("format")]
	if !ok {
		return command.Usagef("--format %q: expected tsv, csv or jsonl", c.String("format"))
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	return datadir.WithTable(c, p.games, func(t *table.Table, _ *filesys.Place) error {
		w, err := wantedOf(c, t)
		if err != nil {
			return err
		}
		scan, err := t.Scan(w.tier.has)
		if err != nil {
			return err
		}
		x := &exporter{g: t.Game(), form: form, wanted: w, scan: scan, out: c.App.Writer, dots: c.Bool("dots")}
		if start := x.g.Start(); x.dots {
			if p, err := x.g.Parse(string(dotted(x.g.AppendText(nil, start)))); err != nil || p != start {
				return command.Usagef("--dots: positions of %s cannot be read with points for blanks", x.g.Spec())
			}
		}
		if c.Bool("header") && form.header != "" {
			if _, err := io.WriteString(x.out, form.header); err != nil {
				return err
			}
		}
		if c.IsSet("sample") {
			seed := c.Uint64("seed")
			if !c.IsSet("seed") {
				seed = rand.Uint64()
			}
			err = x.sample(ctx, int(c.Uint64("sample")), seed)
		} else {
			err = x.all(ctx)
		}
		if errors.Is(err, context.Canceled) {
			return command.ErrInterrupted
		}
		return err
	}, p.openers(c.Context)...)
}

// A span is a range of numbers, first and last included.
type span struct{ first, last int }

func (s span) has(n int) bool { return n >= s.first && n <= s.last }

// spanOf parses a flag that is a number N or a range N-M. It returns all if the flag is not
// set.
func spanOf(c *cli.Context, name string, all span) (span, error) {
	if !c.IsSet(name) {
		return all, nil
	}
	first, last, two := strings.Cut(c.String(name), "-")
	if !two {
		last = first
	}
	a, err := strconv.Atoi(first)
	b, err2 := strconv.Atoi(last)
	if err != nil || err2 != nil || a > b || a < all.first || b > all.last {
		return span{}, command.Usagef("--%s %q: expected a number from %d to %d, or a range such as 3-5", name, c.String(name), all.first, all.last)
	}
	return span{a, b}, nil
}

// wanted selects the positions to export.
type wanted struct {
	tier       span
	remoteness span
	decided    bool // no draws
	outcome    func(game.Value) bool
}

func (w *wanted) value(v game.Value) bool {
	if !v.Valid() {
		return !w.decided && w.outcome(v)
	}
	return w.remoteness.has(v.Remoteness()) && w.outcome(v)
}

// wantedOf reads the filters of the command line.
func wantedOf(c *cli.Context, t *table.Table) (w wanted, err error) {
	g := t.Game()
	if _, ok := g.(game.Acyclic); !ok && c.IsSet("tier") {
		return w, command.Usagef("--tier: %s has none", g.Spec())
	}
	if w.tier, err = spanOf(c, "tier", span{0, t.Tiers()}); err != nil {
		return w, err
	}
	w.decided = c.IsSet("remoteness")
	if w.remoteness, err = spanOf(c, "remoteness", span{0, game.MaxRemoteness}); err != nil {
		return w, err
	}
	w.outcome, err = outcomeOf(g, c.String("outcome"))
	return w, err
}

// outcomeOf returns a filter for the values that a word describes; every value if the word is
// "".
func outcomeOf(g game.Game, word string) (func(game.Value) bool, error) {
	if word == "" {
		return func(game.Value) bool { return true }, nil
	}
	if n, err := strconv.ParseUint(word, 0, 16); err == nil {
		return func(v game.Value) bool { return uint64(v) == n }, nil
	}
	values, can := g.Values(), []string(nil)
	for _, o := range []game.Outcome{game.FirstWins, game.SecondWins, game.Tie, game.Undecided} {
		names := []string{values.Word(o)}
		switch {
		case o == game.Undecided && !values.OfMover:
			continue
		case o != game.Tie && !values.OfMover:
			names = append(names, values.Players[game.FirstWins-o])
		}
		for _, name := range names {
			if strings.EqualFold(word, name) {
				return func(v game.Value) bool { return v.Outcome() == o }, nil
			}
		}
		can = append(can, strconv.Quote(names[len(names)-1]))
	}
	return nil, command.Usagef("--outcome %q: expected %s, or a value byte", word, strings.Join(can, ", "))
}

// An exportForm is an output format: the text before the board, between the board and the hash,
// and after the hash (value, remoteness and outcome).
type exportForm struct {
	header         string
	before, middle string
	board          func(dst []byte, from int) []byte // edits dst[from:], the text of the board, in place
	after          func(value, remoteness, outcome string) string
}

var exportForms = map[string]exportForm{
	"tsv": {
		header: "position\thash\tvalue\tremoteness\toutcome\n", middle: "\t",
		after: func(value, remoteness, outcome string) string {
			return "\t" + value + "\t" + remoteness + "\t" + outcome + "\n"
		},
	},
	"csv": {
		header: "position,hash,value,remoteness,outcome\n", middle: ",", board: quoteCSV,
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

// dotted replaces the spaces of a text with dots.
func dotted(text []byte) []byte {
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
	if bytes.IndexByte(field, ',') < 0 && bytes.IndexByte(field, '"') < 0 {
		return dst
	}
	quoted := `"` + strings.ReplaceAll(string(field), `"`, `""`) + `"`
	return append(dst[:from], quoted...)
}

// quoteJSON makes dst[from:] a JSON string. A board is one line of text without quotation
// marks, so that only backslashes need escaping.
func quoteJSON(dst []byte, from int) []byte {
	if bytes.IndexByte(dst[from:], '\\') >= 0 {
		dst = append(dst[:from], bytes.ReplaceAll(dst[from:], []byte{'\\'}, []byte(`\\`))...)
	}
	dst = append(dst, '"', '"')
	copy(dst[from+1:], dst[from:len(dst)-2])
	dst[from] = '"'
	return dst
}

// An exporter writes the positions of a table.
type exporter struct {
	g      game.Game
	form   exportForm
	wanted wanted
	scan   *table.Scan
	out    io.Writer
	dots   bool
}

// A liner formats positions as lines. Each worker has its own.
type liner struct {
	*exporter
	ends map[valueOf]string
	last valueOf // the value that end belongs to
	end  string
}

// A valueOf is a value and the player to move of its position.
type valueOf struct {
	value  game.Value
	toMove game.Player
}

func (x *exporter) liner() *liner {
	return &liner{exporter: x, ends: make(map[valueOf]string)}
}

// append appends the line of a position.
func (l *liner) append(dst []byte, p game.Position, v game.Value) []byte {
	dst = append(dst, l.form.before...)
	from := len(dst)
	dst = l.g.AppendText(dst, p)
	if l.dots {
		dotted(dst[from:])
	}
	if l.form.board != nil {
		dst = l.form.board(dst, from)
	}
	dst = strconv.AppendUint(append(dst, l.form.middle...), p, 10)
	if of := (valueOf{v, l.g.ToMove(p)}); of != l.last || l.end == "" {
		l.last, l.end = of, l.endOf(of, p)
	}
	return append(dst, l.end...)
}

// endOf returns the part of a line after the hash, for a position with this value.
func (l *liner) endOf(of valueOf, p game.Position) string {
	end, ok := l.ends[of]
	if !ok {
		worth := command.WorthOf(l.g, p, of.value)
		end = l.form.after(worth.Word(), worth.Number(), l.g.Values().Word(of.value.Outcome()))
		l.ends[of] = end
	}
	return end
}

const (
	// exportBatches is the number of batches in a share, the unit of work of a worker.
	exportBatches = 8
	// exportPiece is the number of bytes that are passed on and written at a time.
	exportPiece = 256 << 10
	// exportAhead is how many of those pieces of a share may wait for their turn to be written.
	exportAhead = 16
)

// all writes every wanted position, in the order of the table. The scan is divided into shares;
// each has a channel for its lines, and the channels are emptied one after the other.
func (x *exporter) all(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	free := sync.Pool{New: func() any { return new([]byte) }}
	shares := make(chan chan *[]byte, 2*runtime.GOMAXPROCS(0)) // in the order of the table
	var claim sync.Mutex
	next := 0
	// take returns the next share: the number of its first batch, and the channel for its
	// lines.
	take := func() (first int, lines chan *[]byte, ok bool) {
		claim.Lock()
		defer claim.Unlock()
		if next >= x.scan.Len() {
			return 0, nil, false
		}
		first, lines = next, make(chan *[]byte, exportAhead)
		select {
		case shares <- lines:
			next += exportBatches
			return first, lines, true
		case <-ctx.Done():
			return 0, nil, false
		}
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			r, l, b := x.scan.Reader(), x.liner(), new(table.Batch)
			for {
				first, lines, ok := take()
				if !ok {
					return
				}
				err := x.share(ctx, r, l, b, first, lines, &free)
				close(lines)
				if err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	go func() {
		workers.Wait()
		close(shares)
	}()
	for lines := range shares {
		for piece := range lines {
			if context.Cause(ctx) == nil {
				if _, err := x.out.Write(*piece); err != nil {
					cancel(err)
				}
			}
			free.Put(piece)
		}
	}
	return context.Cause(ctx)
}

// share writes the batches of a share to its channel.
func (x *exporter) share(ctx context.Context, r *table.ScanReader, l *liner, b *table.Batch, first int, lines chan<- *[]byte, free *sync.Pool) error {
	piece := free.Get().(*[]byte)
	*piece = (*piece)[:0]
	send := func() error {
		select {
		case lines <- piece:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for i := first; i < min(first+exportBatches, x.scan.Len()); i++ {
		if err := r.Read(i, b); err != nil {
			return err
		}
		for j, p := range b.Positions {
			if !x.wanted.value(b.Values[j]) {
				continue
			}
			*piece = l.append(*piece, p, b.Values[j])
			if len(*piece) >= exportPiece {
				if err := send(); err != nil {
					return err
				}
				piece = free.Get().(*[]byte)
				*piece = (*piece)[:0]
			}
		}
	}
	return send()
}

// A picked position is a position of a sample.
type picked struct {
	order    uint64 // the sample consists of the positions with the lowest
	tier     int
	position game.Position
	value    game.Value
}

// picks is a heap with the highest order on top.
type picks []picked

func (h picks) Len() int           { return len(h) }
func (h picks) Less(i, j int) bool { return h[i].order > h[j].order }
func (h picks) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *picks) Push(x any)        { *h = append(*h, x.(picked)) }
func (h *picks) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// add adds a position if it is among the n lowest in order.
func (h *picks) add(n int, p picked) {
	switch {
	case len(*h) < n:
		heap.Push(h, p)
	case p.order < (*h)[0].order:
		(*h)[0] = p
		heap.Fix(h, 0)
	}
}

// shuffled returns a pseudorandom number for a position and a seed. Different positions have
// different numbers: it is the finisher of SplitMix64, which is a bijection.
func shuffled(p game.Position, seed uint64) uint64 {
	z := p + seed*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// sample writes n random positions of those that are wanted, or all if there are fewer.
func (x *exporter) sample(ctx context.Context, n int, seed uint64) error {
	batches, ok, err := x.scan.Sample(ctx, uint64(n), seed, x.wanted.value)
	if err != nil {
		return err
	}
	if !ok {
		return x.sampleAll(ctx, n, seed)
	}
	var lines []byte
	l := x.liner()
	for _, b := range batches {
		for i, p := range b.Positions {
			lines = l.append(lines, p, b.Values[i])
		}
		if _, err := x.out.Write(lines); err != nil {
			return err
		}
		lines = lines[:0]
	}
	return nil
}

// sampleAll reads all positions, and writes those n wanted positions to which shuffled gives
// the lowest numbers.
func (x *exporter) sampleAll(ctx context.Context, n int, seed uint64) error {
	var mu sync.Mutex // protects each, the picks of all workers
	var each []*picks
	if err := parallel.Each(ctx, runtime.GOMAXPROCS(0), x.scan.Len(), 1, func() func(int) error {
		r, b, own := x.scan.Reader(), new(table.Batch), new(picks)
		mu.Lock()
		each = append(each, own)
		mu.Unlock()
		return func(i int) error {
			if err := r.Read(i, b); err != nil {
				return err
			}
			for j, p := range b.Positions {
				if v := b.Values[j]; x.wanted.value(v) {
					own.add(n, picked{shuffled(p, seed), b.Tier, p, v})
				}
			}
			return nil
		}
	}); err != nil {
		return err
	}
	var all picks
	for _, own := range each {
		for _, p := range *own {
			all.add(n, p)
		}
	}
	slices.SortFunc(all, func(a, b picked) int { return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.position, b.position)) })
	var lines []byte
	l := x.liner()
	for _, p := range all {
		if lines = l.append(lines, p.position, p.value); len(lines) >= exportPiece {
			if _, err := x.out.Write(lines); err != nil {
				return err
			}
			lines = lines[:0]
		}
	}
	_, err := x.out.Write(lines)
	return err
}
