package book

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/search"
)

// A file of a book consists of two lines, the value bytes of the canonical positions of the last
// ply in ascending order, and the CRC-32C of all this as four bytes, big-endian:
//
//	treereduce book 1 plies=6 positions=8231
//	connectn width=7 height=6 connect=4
const firstLine = "treereduce book 1 plies=%d positions=%d"

// maxFile is an upper bound on the length of a file.
const maxFile = MaxPositions + 1<<10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// format returns the file of a book.
func format(g game.Game, plies int, values []byte) []byte {
	file := fmt.Appendf(nil, firstLine+"\n%s\n", plies, len(values), g.Spec())
	file = append(file, values...)
	return binary.BigEndian.AppendUint32(file, crc32.Checksum(file, castagnoli))
}

// Open reads the file of a book; parse makes the game of its spec.
func Open(name string, parse func(spec string) (game.Game, error)) (*Book, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var text strings.Builder
	if _, err := io.Copy(&text, io.LimitReader(f, maxFile)); err != nil {
		return nil, err
	}
	b, err := Parse(text.String(), parse)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// Parse reads the text of a file. Its error describes what is wrong.
func Parse(file string, parse func(spec string) (game.Game, error)) (*Book, error) {
	spec, plies, values, err := unpack(file)
	if err != nil {
		return nil, err
	}
	g, err := parse(spec)
	if err != nil {
		return nil, err
	}
	all, err := levels(g, plies)
	if err != nil {
		return nil, err
	}
	if last := all[plies]; len(last) != len(values) {
		return nil, fmt.Errorf("expected values of %d positions, found %d: make the book again if an earlier version made it", len(last), len(values))
	}
	for _, v := range []byte(values) {
		if !game.Value(v).Valid() {
			return nil, errors.New("it has a position without a value")
		}
	}
	return newBook(g, all, []byte(values)), nil
}

// unpack returns what the text of a file contains: the spec of the game, the last ply, and the values.
func unpack(file string) (spec string, plies int, values string, err error) {
	first, rest, _ := strings.Cut(file, "\n")
	spec, rest, _ = strings.Cut(rest, "\n")
	isBreak := func(r rune) bool { return r == ' ' || r == '=' }
	words := append(strings.FieldsFunc(first, isBreak), make([]string, 7)...)
	version, err := strconv.Atoi(words[2])
	if strings.HasPrefix(first, "treereduce book ") && err == nil && version != 1 {
		return "", 0, "", fmt.Errorf("a book of format version %d, this program reads version 1", version)
	}
	plies, _ = strconv.Atoi(words[4])
	positions, _ := strconv.Atoi(words[6])
	if plies < 0 || fmt.Sprintf(firstLine, plies, positions) != first { // also if they are no numbers
		return "", 0, "", fmt.Errorf("it is not a book: expected a first line %q", "treereduce book 1 plies=… positions=…")
	}
	values, sum := rest[:max(0, len(rest)-4)], rest[max(0, len(rest)-4):]
	if len(sum) < 4 || len(values) != positions {
		return "", 0, "", fmt.Errorf("it is damaged: expected %d bytes after the second line, found %d", positions+4, len(rest))
	}
	if got, want := crc32.Checksum([]byte(file[:len(file)-4]), castagnoli), binary.BigEndian.Uint32([]byte(sum)); got != want {
		return "", 0, "", fmt.Errorf("it is damaged: its checksum is %08x, expected %08x", got, want)
	}
	return spec, plies, values, nil
}

// Make writes the book of the positions up to a ply into a file of this name. It searches those of the last ply one after the
// other, and calls report before the first one and after each with the numbers of values that are known and of all. If it is
// stopped, the file NAME.part has the values so far, and 0 for the others; the same call goes on with it.
func Make(ctx context.Context, name string, g game.Layered, plies int, s *search.Searcher, report func(known, all int)) error {
	all, err := levels(g, plies)
	if err != nil {
		return err
	}
	keys, part := all[plies], name+".part"
	values := make([]byte, len(keys))
	switch text, err := os.ReadFile(part); {
	case err == nil:
		spec, ply, found, err := unpack(string(text))
		if err == nil && (spec != g.Spec() || ply != plies || len(found) != len(values)) {
			err = fmt.Errorf("it is of %s with %d plies and %d positions", spec, ply, len(found))
		}
		if err != nil {
			return fmt.Errorf("%s: %w: choose another file, or remove this one", part, err)
		}
		copy(values, found)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	known := len(values) - bytes.Count(values, []byte{0})
	report(known, len(values))
	save := func() error { return store.ReplaceFile(part, format(g, plies, values)) }
	saved := time.Now()
	for i, p := range keys {
		if values[i] != 0 {
			continue
		}
		r, err := s.Search(ctx, p, search.Limit{Bare: true})
		switch {
		case err != nil:
		case ctx.Err() != nil:
			err = ctx.Err()
		case r.Weak:
			err = fmt.Errorf("%s: its search proves who wins, but not the remoteness, which a book needs", g.Spec())
		case !r.Value.Valid() || r.Value.Remoteness() > game.MaxByteRemoteness:
			err = fmt.Errorf("%s: position %d cannot have the value %d in a book", g.Spec(), p, r.Value)
		}
		if err != nil {
			return errors.Join(err, save())
		}
		values[i] = byte(r.Value)
		known++
		report(known, len(values))
		if time.Since(saved) > time.Second {
			if err := save(); err != nil {
				return err
			}
			saved = time.Now()
		}
	}
	return cmp.Or(save(), store.Local{}.Rename(part, name))
}
