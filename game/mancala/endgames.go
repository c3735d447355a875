package mancala

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// Endgames is a database of all boards with few stones in the pits. The value of a board is
// the number of these stones that the player to move gains, minus those that the other gains,
// if both maximize their stones. It does not depend on the stones already in the goals. So a
// byte per board is enough to decide who wins with any lead.
//
// Boards with fewer stones are solved first, and then each board after those that it depends
// on: a move that puts no stone into a goal only moves stones forward within a row, which
// gives the row a smaller number (see ranking).
type Endgames struct {
	*ranking
	stones int
	values []byte   // of the boards of 0, 1, … stones: signed bytes, int8
	begin  []uint64 // index in values of the first board of s stones
}

// MaxEndgameStones is the largest number of stones of a database: values of boards with more
// stones might not fit into a byte.
const MaxEndgameStones = 127

// quickBoards is the number of boards that can be solved in less than a tenth of a second.
const quickBoards = 700_000

// maxEndgameBoards is the largest number of boards of a database, and its size in bytes.
const maxEndgameBoards = 4 << 30

// StonesWithin returns the largest number of stones, up to most, for which a database with
// this number of pits per row has no more than the given number of boards.
func StonesWithin(pits, most int, boards float64) (stones int) {
	for stones < min(most, MaxEndgameStones) && Boards(pits, stones+1) <= boards {
		stones++
	}
	return stones
}

// Boards returns the number of boards with up to this many stones in the pits.
func Boards(pits, stones int) float64 {
	n := 1.0
	for i := 1; i <= 2*pits; i++ {
		n *= float64(stones+i) / float64(i)
	}
	return math.Round(n)
}

// CheckEndgames returns an error if the size of a database is invalid: it must have 1 to 8
// pits per row, up to 127 stones, and no more than four billion boards.
func CheckEndgames(pits, stones int) error {
	switch {
	case pits < 1 || pits > maxFastPits:
		return fmt.Errorf("mancala: endgames are of 1 to %d pits a row, found %d", maxFastPits, pits)
	case stones < 0 || stones > MaxEndgameStones:
		return fmt.Errorf("mancala: endgames are of 0 to %d stones, found %d", MaxEndgameStones, stones)
	case Boards(pits, stones) > maxEndgameBoards:
		return fmt.Errorf("mancala: endgames of %d stones are too many for %d pits a row: %d at most", stones, pits,
			StonesWithin(pits, MaxEndgameStones, maxEndgameBoards))
	}
	return nil
}

// newEndgames returns a database without values.
func newEndgames(pits, stones int) *Endgames {
	e := &Endgames{ranking: newRanking(pits, stones), stones: stones, begin: make([]uint64, stones+2)}
	for s := range stones + 1 {
		e.begin[s+1] = e.begin[s] + e.boards(s)
	}
	return e
}

// NewEndgames computes a database, on all cores. CheckEndgames must accept the size.
func NewEndgames(pits, stones int) *Endgames {
	e := newEndgames(pits, stones)
	e.values = make([]byte, e.begin[stones+1])
	rows := make([][]uint64, stones+1)
	sown := make([][]sowing, pits)
	for n := range rows {
		rows[n] = e.all(n)
	}
	for pit := range sown {
		sown[pit] = sowings(pits, pit, stones)
	}
	for s := 1; s <= stones; s++ {
		// Boards of s stones depend only on boards with the same n stones in one row and s-n
		// in the other.
		var next atomic.Int64
		var wait sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			wait.Go(func() {
				for {
					n := s - int(next.Add(1)) + 1
					if 2*n < s {
						return
					}
					e.solve(sown, rows[n], rows[s-n])
				}
			})
		}
		wait.Wait()
	}
	return e
}

// solve computes all boards with one row from long and the other from short. The rows of
// short have at most as many stones as those of long.
func (e *Endgames) solve(sown [][]sowing, long, short []uint64) {
	same := len(long) == len(short) && long[0] == short[0]
	for i, a := range long {
		for j, b := range short {
			if same && j > i {
				break
			}
			e.set(sown, a, b)
			if !same || j < i {
				e.set(sown, b, a)
			}
		}
	}
}

// set computes the value of a board.
func (e *Endgames) set(sown [][]sowing, own, other uint64) {
	best := -MaxEndgameStones - 1
	if own == 0 {
		best = -e.value(other, own)
	}
	for pit := range e.pits {
		if own>>(8*pit)&0xff == 0 {
			continue
		}
		mine, yours, gain, _ := sow(sown[pit], e.pits, pit, own, other)
		best = max(best, gain-e.value(yours, mine))
	}
	number, s := e.number(own, other)
	e.values[e.begin[s]+number] = byte(int8(best))
}

// value returns the value of a board for the player to move. The board must not have more
// stones than the database.
func (e *Endgames) value(own, other uint64) int {
	number, s := e.number(own, other)
	return int(int8(e.values[e.begin[s]+number]))
}

// Pits returns the number of pits per row.
func (e *Endgames) Pits() int { return e.pits }

// Stones returns the largest number of stones in the pits.
func (e *Endgames) Stones() int { return e.stones }

// fit returns an error if the database does not have this number of pits per row.
func (e *Endgames) fit(pits int) error {
	if e.pits != pits {
		return fmt.Errorf("mancala: the endgames are of %d pits a row, the game of %d", e.pits, pits)
	}
	return nil
}

// A file of endgames consists of a line that identifies it, the values in their order, one
// byte each, and the CRC-32C of all this as four bytes, big-endian.
const endgamesForm = "treereduce mancala endgames 1 pits=%d stones=%d\n"

// maxEndgamesLine is an upper bound on the length of that line.
const maxEndgamesLine = 80

// WriteTo writes the database in the format of a file.
func (e *Endgames) WriteTo(w io.Writer) (n int64, err error) {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	line := fmt.Appendf(nil, endgamesForm, e.pits, e.stones)
	for _, part := range [][]byte{line, e.values} {
		sum.Write(part)
		m, err := w.Write(part)
		if n += int64(m); err != nil {
			return n, err
		}
	}
	m, err := w.Write(binary.BigEndian.AppendUint32(nil, sum.Sum32()))
	return n + int64(m), err
}

// ReadEndgames reads a database written by WriteTo. Its error describes what is wrong.
func ReadEndgames(r io.Reader) (*Endgames, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(maxEndgamesLine)
	if err != nil && err != io.EOF {
		return nil, err
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	var pits, stones int
	if _, err := fmt.Sscanf(string(line)+"\n", endgamesForm, &pits, &stones); err != nil || fmt.Sprintf(endgamesForm, pits, stones) != string(line)+"\n" {
		return nil, errors.New("it is no file of endgames of Mancala: expected a first line \"treereduce mancala endgames 1 pits=… stones=…\"")
	}
	if err := CheckEndgames(pits, stones); err != nil {
		return nil, err
	}
	b.Discard(len(line) + 1)
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	fmt.Fprintf(sum, endgamesForm, pits, stones)
	// Read the values incrementally: a short file that claims to be long costs no memory.
	values, err := io.ReadAll(io.LimitReader(b, int64(Boards(pits, stones))))
	if err != nil {
		return nil, err
	}
	var want [4]byte
	if n, err := io.ReadFull(b, want[:]); err != nil {
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, err
		}
		return nil, fmt.Errorf("it is cut off: expected %.0f bytes after the first line, found %d", Boards(pits, stones)+4, len(values)+n)
	}
	sum.Write(values)
	if got := sum.Sum32(); got != binary.BigEndian.Uint32(want[:]) {
		return nil, fmt.Errorf("it is damaged: its checksum is %08x, expected %08x", got, binary.BigEndian.Uint32(want[:]))
	}
	if _, err := b.ReadByte(); err != io.EOF {
		return nil, errors.New("it is damaged: something follows the checksum")
	}
	e := newEndgames(pits, stones)
	e.values = values
	return e, nil
}
