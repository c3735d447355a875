package compare

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// A Source is one of two results: a table, or text.
type Source struct {
	Name   string
	Game   game.Game    // nil if unknown
	table  *table.Table // nil if the result is text
	place  *filesys.Place
	files  []string                     // nil unless the text is in files
	stdin  io.Reader                    // nil unless the text is read from stdin
	values map[game.Position]game.Value // nil if the result is a table
}

// OpenStdin returns the text that is read from stdin.
func OpenStdin(stdin io.Reader) *Source { return &Source{Name: "stdin", stdin: stdin} }

// Close closes the table and the place.
func (s *Source) Close() {
	if s.table != nil {
		s.table.Close()
	}
	if s.place != nil {
		s.place.Close()
	}
}

// Open opens the result at a place, which Close closes.
func Open(place *filesys.Place, name string, games game.Kinds) (_ *Source, err error) {
	s := &Source{Name: name, place: place}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	dir := place.Path
	info, err := place.FS.Stat(dir)
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
	if _, missing := place.FS.Stat(path.Join(data, table.Dir)); missing == nil {
		if s.table, err = table.OpenFS(place.FS, data, games.Parse); err != nil {
			return nil, err
		}
		s.Game = s.table.Game()
		return s, nil
	}
	return s, s.openText(games, dir)
}

// openText finds the text files of a directory.
func (s *Source) openText(games game.Kinds, dir string) error {
	spec := ""
	if seal, err := store.ReadSeal(s.place.FS, dir); err == nil && seal != nil {
		if s.Game, err = games.Parse(seal.Game); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		spec = seal.Game
	}
	_, names, err := store.OpenDir(s.place.FS, dir, spec)
	for _, name := range names {
		if strings.HasPrefix(name, store.LinesPrefix) {
			s.files = append(s.files, path.Join(dir, name))
		}
	}
	if err == nil && len(s.files) == 0 {
		err = fmt.Errorf("%s: it contains neither a table nor text", s.Name)
	}
	return err
}

// read reads the text of a result, if it is no table. A duplicate position is an error.
func (s *Source) read(g game.Game) (err error) {
	s.values = make(map[game.Position]game.Value)
	checked := make(map[game.Value]bool)
	add := func(in io.Reader, source string) error {
		r := streamfmt.NewEditedReader(in, source)
		return r.Each(func(line []byte) error {
			p, v, err := ParseLine(g, string(line))
			if err == nil && !checked[v] {
				if why := notation.CheckValue(g, v); why != nil {
					err = fmt.Errorf("%d is no value of the game: %w", v, why)
				}
				checked[v] = true
			}
			if _, twice := s.values[p]; err == nil && twice {
				err = errors.New("its position has a line already")
			}
			if err != nil {
				return r.Errorf(fmt.Sprintf("a line of final (%v)", err), line)
			}
			s.values[p] = v
			return nil
		})
	}
	if s.stdin != nil {
		err = add(s.stdin, s.Name)
	}
	for _, name := range s.files {
		if err == nil {
			err = s.file(name, add)
		}
	}
	return err
}

// file calls add with a file of the text. A pipe or a device of this machine is read from its beginning to its end.
func (s *Source) file(name string, add func(io.Reader, string) error) error {
	f, err := s.place.FS.Open(name)
	if _, local := s.place.FS.(store.Local); local && errors.Is(err, store.ErrNotRegular) {
		stream, err := os.Open(name)
		if err != nil {
			return err
		}
		defer stream.Close()
		return add(stream, name)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return add(io.NewSectionReader(f, 0, math.MaxInt64), name)
}
