package driver

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

func (p *program) compareCommand() *cli.Command {
	spec := ""
	if g := example(p.games); g != nil {
		spec = ", such as " + strconv.Quote(g.Spec())
	}
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare two results, and show the first difference",
		UsageText: "driver compare [--game SPEC] A B",
		Description: "A and B are solved data directories, their tables, directories or files of text as in DIR/final (- is\n" +
			"stdin) or of a tier's records. Text may be in any order; it is read into memory. The exit status\n" +
			"is 1 if they differ.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "game", Usage: "game of text files without a data directory: `SPEC` as status prints it" + spec},
		},
		Action: func(c *cli.Context) error { return p.compare(c) },
	}
}

// compare implements driver compare.
func (p *program) compare(c *cli.Context) error {
	if c.Args().Len() != 2 {
		return command.Usagef("expected two results, found %d", c.Args().Len())
	}
	var g game.Game
	if c.IsSet("game") {
		var err error
		if g, err = p.games.Parse(c.String("game")); err != nil {
			return command.Usagef("--game: %w", err)
		}
	}
	var sides [2]*side
	for i, name := range c.Args().Slice() {
		s, err := openSide(p.games, name, c.App.Reader, p.openers(c.Context)...)
		if err != nil {
			return err
		}
		defer s.close()
		sides[i] = s
		switch {
		case s.g == nil:
		case g == nil:
			g = s.g
		case g.Spec() != s.g.Spec():
			return fmt.Errorf("%s is of another game: expected %q, found %q", name, g.Spec(), s.g.Spec())
		}
	}
	if g == nil {
		return command.Usagef("the game of these texts is unknown: name it with --game")
	}
	d := &difference{g: g, names: [2]string{sides[0].name, sides[1].name}}
	if err := d.find(sides); err != nil {
		return err
	}
	return d.print(c.App.Writer)
}

// A side is one of the two results: a table, or text.
type side struct {
	name  string
	g     game.Game    // nil if unknown
	table *table.Table // nil if the result is text
	place *filesys.Place
	files []string  // of a text
	stdin io.Reader // of a text that is read from stdin
}

func (s *side) close() {
	if s.table != nil {
		s.table.Close()
	}
	if s.place != nil {
		s.place.Close()
	}
}

// openSide opens the result that a name refers to.
func openSide(games game.Kinds, name string, stdin io.Reader, further ...filesys.Opener) (_ *side, err error) {
	s := &side{name: command.Printable(name)}
	if name == "-" {
		s.name, s.stdin = "stdin", stdin
		return s, nil
	}
	if s.place, err = datadir.OpenDir("data", name, further...); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	dir := s.place.Path
	info, err := s.place.FS.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such directory or file", name)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		s.files = []string{dir}
		return s, nil
	}
	data := dir
	if path.Base(dir) == table.Dir {
		data = path.Dir(dir)
	}
	if _, missing := s.place.FS.Stat(path.Join(data, table.Dir)); missing == nil {
		if s.table, err = table.OpenFS(s.place.FS, data, games.Parse); err != nil {
			return nil, err
		}
		s.g = s.table.Game()
		return s, nil
	}
	if _, missing := s.place.FS.Stat(path.Join(dir, store.ManifestFile)); missing == nil { // a run without a table yet
		if absent := datadir.Absent(s.place, name); absent != nil {
			return nil, absent
		}
	}
	return s, s.openText(games, dir)
}

// openText finds the text files of a directory.
func (s *side) openText(games game.Kinds, dir string) error {
	spec := ""
	if seal, err := store.ReadSeal(s.place.FS, dir); err == nil && seal != nil {
		if s.g, err = games.Parse(seal.Game); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		spec = seal.Game
	}
	var err error
	if s.files, err = jobdir.Parts(s.place.FS, dir, spec); err != nil {
		return err
	}
	if len(s.files) == 0 {
		return fmt.Errorf("%s: it contains neither a table nor text", s.name)
	}
	for _, name := range s.files {
		if !jobdir.IsText(name) {
			return fmt.Errorf("%s: it is packed; only text and tables can be compared", name)
		}
	}
	return nil
}

// A valued position is a position of a result, with its value.
type valued struct {
	position game.Position
	value    game.Value
}

// lines reads the text, sorted by position. A duplicate position is an error.
func (s *side) lines(g game.Game) (all []valued, err error) {
	add := func(in io.Reader, source string) error {
		r := streamfmt.NewLineReader(in, source)
		return r.Each(func(line []byte) error {
			v, err := parseLine(g, strings.TrimSuffix(string(line), "\r"))
			if err != nil {
				return r.Errorf(fmt.Sprintf("a line of final (%v)", err), line)
			}
			all = append(all, v)
			return nil
		})
	}
	if s.stdin != nil {
		err = add(s.stdin, s.name)
	}
	for _, name := range s.files {
		if err == nil {
			err = s.file(name, add)
		}
	}
	if err != nil {
		return nil, err
	}
	order := func(a, b valued) int { return cmp.Compare(a.position, b.position) }
	if !slices.IsSortedFunc(all, order) {
		slices.SortFunc(all, order)
	}
	for i := range all[:max(0, len(all)-1)] {
		if p := all[i].position; p == all[i+1].position {
			return nil, fmt.Errorf("%s: '%s' occurs twice", s.name, g.AppendText(nil, p))
		}
	}
	return all, nil
}

func (s *side) file(name string, add func(io.Reader, string) error) error {
	f, err := s.place.FS.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return add(io.NewSectionReader(f, 0, math.MaxInt64), name)
}

// parseLine parses a line of final, or of a tier's directory, that has a value.
func parseLine(g game.Game, line string) (v valued, err error) {
	a, err := command.ParseAsked(g, line, command.FromFinal)
	if err != nil {
		return v, err
	}
	v.position = a.Position
	fields := strings.Split(line, "\t")
	if len(fields) < 2 {
		return v, errors.New("it has no value")
	}
	word, remoteness := fields[1], 0
	if len(fields) == 3 && fields[2] != "" {
		if remoteness, err = strconv.Atoi(fields[2]); err != nil || remoteness < 0 || remoteness > game.MaxRemoteness {
			return v, fmt.Errorf("%q is not a number of moves", fields[2])
		}
	}
	for _, result := range []game.Result{game.Draws, game.Loses, game.Wins, game.Ties} {
		if word == result.String() {
			v.value = result.In(remoteness)
			return v, nil
		}
	}
	n, err := strconv.ParseUint(word, 10, 16)
	if err != nil {
		return v, fmt.Errorf("%q is not a value", word)
	}
	v.value = game.Value(n)
	return v, nil
}

// A difference describes how two results differ.
type difference struct {
	g       game.Game
	names   [2]string
	all     [2]uint64 // number of positions of each result
	alone   [2]uint64 // number of positions that only the other result has
	unequal uint64    // number of positions with different values
	first   valuedTwice
	any     bool
}

// A valuedTwice is a position with its values in two results; it may be missing in one of them.
type valuedTwice struct {
	position game.Position
	values   [2]game.Value
	there    [2]bool
}

// add counts a position. It keeps the first one that differs, by tier and key.
func (d *difference) add(at valuedTwice) {
	for i, there := range at.there {
		switch {
		case there:
			d.all[i]++
		default:
			d.alone[1-i]++
		}
	}
	switch {
	case at.there == [2]bool{true, true} && at.values[0] == at.values[1]:
		return
	case at.there == [2]bool{true, true}:
		d.unequal++
	}
	if !d.any || d.before(at.position, d.first.position) {
		d.first, d.any = at, true
	}
}

// before orders positions by tier and key.
func (d *difference) before(p, q game.Position) bool {
	if a, ok := d.g.(game.Acyclic); ok && a.Tier(p) != a.Tier(q) {
		return a.Tier(p) < a.Tier(q)
	}
	return p < q
}

// find compares the results. Two tables are merged in order. If one result is text, it is
// loaded into memory, and the positions of the other are looked up in it.
func (d *difference) find(sides [2]*side) error {
	if sides[0].table != nil && sides[1].table != nil {
		return d.merge(positions(sides[0].table, false), positions(sides[1].table, false))
	}
	held := 0
	if sides[0].table != nil {
		held = 1
	}
	lines, err := sides[held].lines(d.g)
	if err != nil {
		return err
	}
	other := sides[1-held]
	if other.table == nil {
		more, err := other.lines(d.g)
		if err != nil {
			return err
		}
		return d.against(held, lines, seqOf(more))
	}
	return d.against(held, lines, positions(other.table, true))
}

// positions yields the positions of a table, or, if listed is true, only those that final has
// lines for.
func positions(t *table.Table, listed bool) iter.Seq2[valued, error] {
	return func(yield func(valued, error) bool) {
		scan, err := t.Scan(func(int) bool { return true })
		if err != nil {
			yield(valued{}, err)
			return
		}
		for b, err := range scan.Batches() {
			if err != nil {
				yield(valued{}, err)
				return
			}
			for i, p := range b.Positions {
				if (!listed || game.Listed(t.Game(), p)) && !yield(valued{p, b.Values[i]}, nil) {
					return
				}
			}
		}
	}
}

func seqOf(all []valued) iter.Seq2[valued, error] {
	return func(yield func(valued, error) bool) {
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// against looks up the positions of one result in the lines of the other, whose number is held.
func (d *difference) against(held int, lines []valued, other iter.Seq2[valued, error]) error {
	seen := make([]bool, len(lines))
	for v, err := range other {
		if err != nil {
			return err
		}
		at := valuedTwice{position: v.position}
		at.values[1-held], at.there[1-held] = v.value, true
		i, ok := slices.BinarySearchFunc(lines, v.position, func(l valued, p game.Position) int { return cmp.Compare(l.position, p) })
		if ok {
			seen[i] = true
			at.values[held], at.there[held] = lines[i].value, true
		}
		d.add(at)
	}
	for i, v := range lines {
		if !seen[i] {
			at := valuedTwice{position: v.position}
			at.values[held], at.there[held] = v.value, true
			d.add(at)
		}
	}
	return nil
}

// merge compares two results that are sorted by tier and key.
func (d *difference) merge(a, b iter.Seq2[valued, error]) error {
	next, stop := iter.Pull2(b)
	defer stop()
	w, err, more := next()
	for v, failed := range a {
		if failed != nil {
			return failed
		}
		for ; more && err == nil && d.before(w.position, v.position); w, err, more = next() {
			d.add(valuedTwice{w.position, [2]game.Value{0, w.value}, [2]bool{false, true}})
		}
		if err != nil {
			return err
		}
		if more && w.position == v.position {
			d.add(valuedTwice{v.position, [2]game.Value{v.value, w.value}, [2]bool{true, true}})
			w, err, more = next()
		} else {
			d.add(valuedTwice{v.position, [2]game.Value{v.value, 0}, [2]bool{true, false}})
		}
	}
	for ; more && err == nil; w, err, more = next() {
		d.add(valuedTwice{w.position, [2]game.Value{0, w.value}, [2]bool{false, true}})
	}
	return err
}

// prints the difference as text.
func (d *difference) print(out io.Writer) error {
	if !d.any {
		_, err := fmt.Fprintf(out, "%s and %s are the same: %s\n", d.names[0], d.names[1], numfmt.Count(d.all[0], "position"))
		return err
	}
	for i, name := range d.names {
		fmt.Fprintf(out, "%s: %s, %d only there\n", name, numfmt.Count(d.all[i], "position"), d.alone[i])
	}
	fmt.Fprintf(out, "different values: %d\n\nfirst difference, %s:\n\n%s", d.unequal, command.Heading(d.g, d.first.position), beside(d.board(0), d.board(1)))
	return command.ErrTold
}

// board returns the first position that differs, as one of the results has it: the name of the
// result, the board, and the value.
func (d *difference) board(i int) string {
	if !d.first.there[i] {
		return d.names[i] + "\nmissing\n"
	}
	v := d.first.values[i]
	return fmt.Sprintf("%s\n%s%s (%d)\n", d.names[i], d.g.Picture(d.first.position), d.g.Values().Text(v), v)
}

// besideGap is the number of columns between two texts.
const besideGap = 4

// beside formats two texts side by side.
func beside(left, right string) string {
	texts := [2][]string{strings.Split(strings.TrimSuffix(left, "\n"), "\n"), strings.Split(strings.TrimSuffix(right, "\n"), "\n")}
	width := 0
	for _, line := range texts[0] {
		width = max(width, utf8.RuneCountInString(line))
	}
	var b strings.Builder
	for y := range max(len(texts[0]), len(texts[1])) {
		var line [2]string
		for i, text := range texts {
			if y < len(text) {
				line[i] = text[y]
			}
		}
		gap := strings.Repeat(" ", width-utf8.RuneCountInString(line[0])+besideGap)
		fmt.Fprintln(&b, strings.TrimRight(line[0]+gap+line[1], " "))
	}
	return b.String()
}
