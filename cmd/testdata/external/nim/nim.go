// Package nim implements Nim with one heap: the players take turns to take one to three
// stones, White first. The player who takes the last stone wins or loses, depending on the
// parameter last.
package nim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
)

// last is a parameter whose value is one of several words.
var last = game.Param{Name: "last", Usage: "result of taking the last stone", Words: []string{"wins", "loses"}}

// Kind registers the game.
var Kind = game.Kind{
	Name:  "nim",
	Usage: "take one to three stones from a heap in turn",
	Params: []game.Param{
		{Name: "stones", Usage: "in the heap", Default: 10},
		last,
	},
	New: func(args []int) (game.Game, error) {
		if args[0] < 1 || args[0] > 1000 {
			return nil, fmt.Errorf("nim: stones must be 1 to 1000, found %d", args[0])
		}
		return rules{args[0], args[1]}, nil
	},
}

type rules struct {
	stones int
	last   int // index of the word
}

// left returns the number of stones left. A position is twice that number, plus the player
// to move.
func left(p game.Position) int { return int(p / 2) }

func (r rules) Spec() string {
	return fmt.Sprintf("nim stones=%d last=%s", r.stones, last.Text(r.last))
}

func (r rules) Info() game.Info                    { return game.Info{} }
func (r rules) KeyBits() uint                      { return 11 }
func (r rules) Start() game.Position               { return game.Position(2 * r.stones) }
func (r rules) Values() game.Values                { return game.Values{Players: [2]string{"White", "Black"}} }
func (r rules) ToMove(p game.Position) game.Player { return game.Player(p & 1) }

// A tier is the number of stones taken: a move raises it by one to three.
func (r rules) Tiers() int               { return r.stones }
func (r rules) Tier(p game.Position) int { return r.stones - left(p) }
func (r rules) Loops(int) bool           { return false }

func (r rules) Check(p game.Position) error {
	if p > r.Start() {
		return fmt.Errorf("%d stones, %s to move: there are no more than %d, and White begins", left(p), r.who(p), r.stones)
	}
	return nil
}

func (r rules) who(p game.Position) string { return r.Values().Players[r.ToMove(p)] }

func (r rules) Primitive(p game.Position) game.Value {
	if left(p) > 0 {
		return 0
	}
	winner := r.ToMove(p).Other()
	if r.last == 1 {
		winner = winner.Other()
	}
	return game.NewValue(game.WinFor(winner), 0)
}

func (r rules) Moves(dst []game.Move, p game.Position) []game.Move {
	for n := 1; n <= min(3, left(p)); n++ {
		dst = append(dst, game.Move{Name: fmt.Sprintf("take%d", n), To: game.Position(2*(left(p)-n)) | p&1 ^ 1})
	}
	return dst
}

func (r rules) AppendText(dst []byte, p game.Position) []byte {
	return fmt.Appendf(dst, "%d:%s", left(p), r.who(p))
}

func (r rules) Parse(text string) (game.Position, error) {
	stones, who, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(stones)
	if err != nil || n < 0 || n > r.stones || who != "White" && who != "Black" {
		return 0, fmt.Errorf("expected STONES:White or STONES:Black, found %q", text)
	}
	p := game.Position(2 * n)
	if who == "Black" {
		p++
	}
	return p, r.Check(p)
}

func (r rules) Picture(p game.Position) game.Picture {
	return game.Picture{Rows: [][]game.Square{{{Text: strconv.Itoa(left(p))}}}}
}
