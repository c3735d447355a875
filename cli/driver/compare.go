package driver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/result/compare"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

func (p *program) compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare two results, and show the first difference",
		UsageText: "driver compare [--game SPEC] A B",
		Description: "A and B are solved data directories, their tables, directories or files of text as in DIR/final (- is\n" +
			"stdin) or of a tier's records. Text may be in any order; it is read into memory. The exit status\n" +
			"is 1 if they differ.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "game", Usage: "game of text files without a data directory: `SPEC` as status prints it"},
		},
		Action: p.compare,
	}
}

// compare implements driver compare.
func (p *program) compare(c *cli.Context) error {
	if c.Args().Len() != 2 {
		return command.Usagef("expected two results, found %d", c.Args().Len())
	}
	if c.Args().Get(0) == "-" && c.Args().Get(1) == "-" {
		return command.Usagef("stdin can only be one of the two results")
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
	d := compare.Difference{Game: g}
	var results [2]compare.Side
	for i, s := range sides {
		if results[i].Table = s.table; s.table != nil {
			continue
		}
		var err error
		if results[i].Lines, err = s.lines(&d); err != nil {
			return err
		}
	}
	if err := d.Find(results); err != nil {
		return err
	}
	return printDifference(c.App.Writer, &d, [2]string{sides[0].name, sides[1].name})
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
	if s.place, err = datadir.OpenDir(name, further...); err != nil {
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

// lines reads the text, in the order of a table. A duplicate position is an error.
func (s *side) lines(d *compare.Difference) (all []compare.Valued, err error) {
	add := func(in io.Reader, source string) error {
		r := streamfmt.NewEditedReader(in, source)
		return r.Each(func(line []byte) error {
			v, err := compare.ParseLine(d.Game, string(line))
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
	slices.SortFunc(all, func(a, b compare.Valued) int { return d.Order(a.Position, b.Position) })
	for i := range all[:max(0, len(all)-1)] {
		if p := all[i].Position; p == all[i+1].Position {
			return nil, fmt.Errorf("%s: '%s' occurs twice", s.name, d.Game.AppendText(nil, p))
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

// printDifference prints a difference between two results with these names.
func printDifference(out io.Writer, d *compare.Difference, names [2]string) error {
	if !d.Any {
		_, err := fmt.Fprintf(out, "%s and %s are the same: %s\n", names[0], names[1], numfmt.Count(d.All[0], "position"))
		return err
	}
	var boards [2]string
	for i, name := range names {
		fmt.Fprintf(out, "%s: %s, %s not in %s\n", name, numfmt.Count(d.All[i], "position"), numfmt.Number(d.Alone[i]), names[1-i])
		boards[i] = name + "\nmissing\n"
		if v := d.First.Values[i]; d.First.There[i] {
			boards[i] = fmt.Sprintf("%s\n%s%s (%d)\n", name, d.Game.Picture(d.First.Position), d.Game.Values().Text(v), v)
		}
	}
	fmt.Fprintf(out, "different values: %s\n\nfirst difference, %s:\n\n%s", numfmt.Number(d.Unequal), notation.Heading(d.Game, d.First.Position), beside(boards[0], boards[1]))
	fmt.Fprintf(out, "\n%s, %s\n", claim(d, 0, names[0]), claim(d, 1, names[1]))
	return command.ErrReported
}

// claim returns what a result of this name says about the first difference.
func claim(d *compare.Difference, result int, name string) string {
	if !d.First.There[result] {
		return name + " does not have the position"
	}
	return name + " says " + d.Game.Values().Text(d.First.Values[result])
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
