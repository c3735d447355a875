package program

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/treereduce/treereduce/game"
)

// version is the first line of a header.
const version = "treereduce rules 1"

// twoWords matches the value of a line module.
var twoWords = regexp.MustCompile(`^\S+ \S+$`)

// A header is what a program says of its game when it starts.
type header struct {
	name, title, rules string
	params             []param
	bits               uint
	start              game.Position
	below              uint64        // all positions are below it; 0: bits alone limits them
	most               game.Position // the highest number of a position
	tiers              int           // the last tier; -1: none
	loops              map[int]bool  // the tiers in which moves may stay
	allLoop            bool          // moves may stay in each tier
	players            []string      // nil: a position does not show whose turn it is
	tiesLate, puzzle   bool
	text, picture      bool
}

// A param is a parameter of the game, with its value.
type param struct {
	name  string
	value int
}

// parseHeader parses the lines of a header, without the empty line at its end.
func parseHeader(lines [][]byte) (*header, error) {
	h := &header{tiers: -1}
	if first := append(lines, nil)[0]; string(first) != version {
		return nil, fmt.Errorf("expected %q as the first line, found %q", version, clip(first))
	}
	seen := make(map[string]bool)
	for i, line := range lines[1:] {
		key, value, _ := strings.Cut(string(line), " ")
		err := h.set(key, value)
		if seen[key] && key != "parameter" && key != "rules" && key != "module" {
			err = errors.New("it is there twice")
		}
		if seen[key] = true; err != nil {
			return nil, fmt.Errorf("line %d of the header, %q: %w", i+2, clip(line), err)
		}
	}
	for _, key := range []string{"name", "bits", "start"} {
		if !seen[key] {
			return nil, fmt.Errorf("the header has no line %s", key)
		}
	}
	h.most = 1<<h.bits - 1
	if h.below > 0 {
		h.most = h.below - 1
	}
	return h, h.check()
}

// set sets what one line of the header says.
func (h *header) set(key, value string) (err error) {
	var n uint64
	switch key {
	case "name":
		h.name = value
	case "title":
		h.title = value
	case "rules":
		if h.rules != "" {
			h.rules += "\n\n"
		}
		h.rules += value
	case "parameter":
		name, text, _ := strings.Cut(value, " ")
		number, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("expected parameter NAME INTEGER")
		}
		h.params = append(h.params, param{name, number})
	case "module": // a part of the hash
		if !twoWords.MatchString(value) {
			return errors.New("expected module NAME HASH")
		}
	case "players":
		h.players = strings.Split(value, ", ")
		if len(h.players) != 2 || h.players[0] == h.players[1] || slices.Contains(h.players, "") {
			return errors.New("expected two names, NAME, NAME")
		}
	case "ties":
		if h.tiesLate = true; value != "late" {
			return errors.New("expected late")
		}
	case "puzzle", "text", "picture":
		if value != "" {
			return errors.New("expected nothing after the first word")
		}
		h.puzzle, h.text, h.picture = h.puzzle || key == "puzzle", h.text || key == "text", h.picture || key == "picture"
	case "start":
		h.start, err = between(value, 0, math.MaxUint64)
	case "below":
		h.below, err = between(value, 1, math.MaxUint64)
	case "bits":
		n, err = between(value, 1, 64)
		h.bits = uint(n)
	case "tiers":
		n, err = between(value, 1, game.MaxRemoteness)
		h.tiers = int(n)
	case "loops":
		if h.allLoop = value == "all"; !h.allLoop {
			h.loops, err = tiersOf(value)
		}
	default:
		err = errors.New("expected name, title, rules, parameter, bits, below, start, players, tiers, loops, ties, puzzle, text, picture or module")
	}
	return err
}

// tiersOf parses tiers, separated by blanks.
func tiersOf(value string) (map[int]bool, error) {
	tiers := make(map[int]bool)
	for word := range strings.SplitSeq(value, " ") {
		tier, err := between(word, 0, game.MaxRemoteness)
		if err != nil {
			return nil, errors.New("expected all, or the numbers of tiers, separated by one blank")
		}
		tiers[int(tier)] = true
	}
	return tiers, nil
}

// between parses a number from least to most.
func between(value string, least, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("expected a number from %d to %d", least, most)
	}
	return n, nil
}

// check checks that the lines of a header fit together.
func (h *header) check() error {
	switch {
	case h.below > 0 && h.bits < 64 && h.below > 1<<h.bits:
		return fmt.Errorf("below %d is more than %d bits", h.below, h.bits)
	case h.start > h.most:
		return fmt.Errorf("the initial position %d is not below %d", h.start, h.most+1)
	case h.tiers < 0 && (h.tiesLate || h.loops != nil || h.allLoop):
		return errors.New("ties late and loops need tiers")
	case h.tiesLate && (h.loops != nil || h.allLoop):
		return errors.New("ties late is for games without loops")
	case h.tiers >= 0 && slices.Max(slices.AppendSeq([]int{0}, maps.Keys(h.loops))) > h.tiers:
		return fmt.Errorf("loops has a tier after the last one, %d", h.tiers)
	case h.puzzle && (h.tiers >= 0 || h.players != nil):
		return errors.New("a puzzle has neither tiers nor players")
	case h.tiers >= 0 && h.bits <= h.tierBits():
		return fmt.Errorf("tier %d needs %d bits, expected fewer than the %d bits of a position", h.tiers, h.tierBits(), h.bits)
	case h.tiers >= 0 && h.tier(h.start) != 0:
		return fmt.Errorf("the initial position %d is in tier %d, expected 0", h.start, h.tier(h.start))
	}
	return nil
}

// words returns the parameters as a program gets them.
func (h *header) words() (words []string) {
	for _, p := range h.params {
		words = append(words, fmt.Sprintf("%s=%d", p.name, p.value))
	}
	return words
}

func (h *header) tierBits() uint { return uint(bits.Len(uint(h.tiers))) }

// tier returns the tier of a position of a game with tiers.
func (h *header) tier(p game.Position) int { return int(p >> (h.bits - h.tierBits())) }

// A standing is the part of an answer before the moves.
type standing struct {
	mover  game.Player
	result game.Result // game.Draws: the game goes on
}

// value returns the value of a terminal position, otherwise 0. The winner follows from the mover's result as the
// mover's result does from the winner.
func (s standing) value() game.Value { return game.Outcome(s.result).For(s.mover).In(0) }

// ends are the words for the end of a game and, if true, of a puzzle. A stuck puzzle goes on with moves that change
// nothing: it is never solved.
var ends = map[bool]map[string]game.Result{
	false: {"win": game.Wins, "lose": game.Loses, "tie": game.Ties},
	true:  {"solved": game.Ties, "stuck": game.Draws},
}

// refusal returns why an answer says that a number or a text is not a position; nil: it does not say that.
func refusal(line []byte) error {
	text, ok := bytes.CutPrefix(line, []byte("error "))
	if !ok {
		return nil
	}
	return errors.New(cmp.Or(string(text), "it is not a position"))
}

// parse parses the answer for position p, which is not a refusal. It appends to all where the moves lead to and,
// unless names is nil, their names to names. It may overwrite the byte after line.
func (h *header) parse(line []byte, p game.Position, all []game.Position, names *[]string) (s standing, to []game.Position, err error) {
	if h.players != nil {
		if len(line) < 3 || line[1] != ' ' || line[0] != '1' && line[0] != '2' {
			return s, nil, errors.New("expected it to begin with the player to move, 1 or 2")
		}
		s.mover = game.Player(line[0] - '1')
		line = line[2:]
	}
	to, line = all, bytes.TrimRight(line, " ")
	if n := len(line); n > 0 && line[n-1] > '9' { // a move ends with a digit
		if result, ok := ends[h.puzzle][string(line)]; ok {
			s.result = result
			if result != game.Draws {
				return s, to, nil
			}
			if names != nil {
				*names = append(*names, string(line))
			}
			return s, append(to, p), nil
		}
	}
	for rest := append(line, ' '); len(rest) > 0; { // each move ends with a blank
		next, n := h.parseMove(rest)
		if n == 0 {
			word, _, _ := bytes.Cut(rest, []byte(" "))
			return s, nil, h.unexpected(word)
		}
		if to = append(to, next); names != nil {
			name, _, _ := bytes.Cut(rest[:n], []byte(":"))
			*names = append(*names, string(name))
		}
		rest = rest[n+1:]
	}
	if n := len(to) - len(all); n > game.MaxMoves {
		return s, nil, fmt.Errorf("found %d moves, expected at most %d", n, game.MaxMoves)
	}
	return s, to, nil
}

// unexpected returns the error for a word that is neither a move nor the end of the game.
func (h *header) unexpected(word []byte) error {
	ends := "win, lose, tie"
	if h.puzzle {
		ends = "solved, stuck"
	}
	found := strconv.Quote(string(clip(word)))
	if len(word) == 0 {
		found = "two blanks"
	}
	return fmt.Errorf("expected %s or moves to numbers up to %d, separated by one blank, found %s", ends, h.most, found)
}

// parseMove parses the move at the beginning of a line that ends with a blank, NUMBER or NAME:NUMBER. It returns where
// the move leads to, and its number of bytes; 0 if there is no move.
func (h *header) parseMove(line []byte) (to game.Position, n int) {
	from := 0 // where the number begins
	for ; ; n++ {
		if digit := line[n] - '0'; digit <= 9 {
			to = 10*to + uint64(digit)
			continue
		}
		if line[n] == ' ' || from > 0 {
			break
		}
		for line[n] != ' ' && line[n] != ':' {
			n++
		}
		if from = n; line[n] == ' ' || n == 0 {
			break // there is no colon, or no name before it
		}
		from, to = n+1, 0
	}
	var err error
	if n-from >= 20 { // it may have more than 64 bits
		to, err = between(string(line[from:n]), 0, h.most)
	}
	if err != nil || n == from || line[n] != ' ' || to > h.most {
		return 0, 0
	}
	return to, n
}

// checkText returns an error if a line of a program is not UTF-8, or has control characters, or characters that change
// the direction of text or end a line.
func checkText(line []byte) error {
	const ones = 0x0101010101010101
	rest := line
	for len(rest) >= 8 {
		// The high bit of a byte is set if the byte is below ' ', DEL or not ASCII.
		if x := binary.LittleEndian.Uint64(rest); (x|(x+ones)|(x-' '*ones))&(0x80*ones) != 0 {
			break
		}
		rest = rest[8:]
	}
	for len(rest) > 0 {
		if c := rest[0]; ' ' <= c && c <= '~' {
			rest = rest[1:]
			continue
		}
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 || unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return fmt.Errorf("expected UTF-8 without control characters, found %q in %q", rest[:n], clip(line))
		}
		rest = rest[n:]
	}
	return nil
}

// clip returns the beginning of a text, for an error.
func clip(text []byte) []byte { return text[:min(len(text), 100)] }
