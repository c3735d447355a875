package book

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
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
	first, rest, _ := strings.Cut(file, "\n")
	spec, rest, _ := strings.Cut(rest, "\n")
	isBreak := func(r rune) bool { return r == ' ' || r == '=' }
	words := append(strings.FieldsFunc(first, isBreak), make([]string, 7)...)
	version, err := strconv.Atoi(words[2])
	if strings.HasPrefix(first, "treereduce book ") && err == nil && version != 1 {
		return nil, fmt.Errorf("a book of format version %d, this program reads version 1", version)
	}
	plies, _ := strconv.Atoi(words[4])
	positions, _ := strconv.Atoi(words[6])
	if plies < 0 || fmt.Sprintf(firstLine, plies, positions) != first { // also if they are no numbers
		return nil, fmt.Errorf("it is not a book: expected a first line %q", "treereduce book 1 plies=… positions=…")
	}
	values, sum := rest[:max(0, len(rest)-4)], rest[max(0, len(rest)-4):]
	if len(sum) < 4 || len(values) != positions {
		return nil, fmt.Errorf("it is damaged: expected %d bytes after the second line, found %d", positions+4, len(rest))
	}
	if got, want := crc32.Checksum([]byte(file[:len(file)-4]), castagnoli), binary.BigEndian.Uint32([]byte(sum)); got != want {
		return nil, fmt.Errorf("it is damaged: its checksum is %08x, expected %08x", got, want)
	}
	g, err := parse(spec)
	if err != nil {
		return nil, err
	}
	all, err := levels(g, plies)
	if err != nil {
		return nil, err
	}
	if last := all[plies]; len(last) != positions {
		return nil, fmt.Errorf("expected values of %d positions, found %d: make the book again if an earlier version made it", len(last), positions)
	}
	for _, v := range []byte(values) {
		if !game.Value(v).Valid() {
			return nil, errors.New("it has a position without a value")
		}
	}
	return newBook(g, all, []byte(values)), nil
}
