package dobutsu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/internal/testing/naive"
)

// A naiveDobutsu is a position of a second implementation of the game, which was written from the
// rules alone: the letters of the pieces by square, those in hand, and the lion of the player to
// move, who has capital letters if it is L. Its text is that of the game.
type naiveDobutsu struct {
	board map[string]string
	hand  []string
	mover string
}

var naiveSquares = strings.Fields("a1 b1 c1 a2 b2 c2 a3 b3 c3 a4 b4 c4")

// naiveParse reads a text whose hands have two rows of three squares.
func naiveParse(text string) naiveDobutsu {
	rows, mover, _ := strings.Cut(text, " ")
	p := naiveDobutsu{board: map[string]string{}, mover: mover}
	letters := strings.Split(strings.ReplaceAll(rows, "/", ""), "")
	for i, square := range naiveSquares {
		if letter := letters[6+i]; letter != "." {
			p.board[square] = letter
		}
	}
	for _, letter := range slices.Concat(letters[:6], letters[18:]) {
		if letter != "." {
			p.hand = append(p.hand, letter)
		}
	}
	return p
}

func (p naiveDobutsu) String() string {
	text := p.naiveHand("gec")
	for i, square := range naiveSquares {
		if i%3 == 0 {
			text += "/"
		}
		if letter := p.board[square]; letter != "" {
			text += letter
		} else {
			text += "."
		}
	}
	return text + "/" + p.naiveHand("GEC") + " " + p.mover
}

// naiveHand returns the two rows of a hand: each letter that is there once, then those that are there twice.
func (p naiveDobutsu) naiveHand(letters string) string {
	var rows [2]string
	for _, letter := range strings.Split(letters, "") {
		n := 0
		for _, held := range p.hand {
			if held == letter {
				n++
			}
		}
		for i := range rows {
			if i < n {
				rows[i] += letter
			} else {
				rows[i] += "."
			}
		}
	}
	return rows[0] + "/" + rows[1]
}

func (p naiveDobutsu) isOwn(letter string) bool {
	return letter != "" && (strings.ToUpper(letter) == letter) == (p.mover == "L")
}

// step returns the square at a distance from another, where the player to move moves up; "" if it is off the board.
func (p naiveDobutsu) step(square string, right, up int) string {
	if p.mover == "l" {
		right, up = -right, -up
	}
	to := fmt.Sprintf("%c%c", int(square[0])+right, int(square[1])-up)
	if !slices.Contains(naiveSquares, to) {
		return ""
	}
	return to
}

// targets returns the squares to which the piece on a square of the player to move can move.
func (p naiveDobutsu) targets(square string) (all []string) {
	steps := map[string][][2]int{ // right, up
		"L": {{-1, 1}, {0, 1}, {1, 1}, {-1, 0}, {1, 0}, {-1, -1}, {0, -1}, {1, -1}},
		"G": {{0, 1}, {-1, 0}, {1, 0}, {0, -1}},
		"E": {{-1, 1}, {1, 1}, {-1, -1}, {1, -1}},
		"C": {{0, 1}},
		"H": {{-1, 1}, {0, 1}, {1, 1}, {-1, 0}, {1, 0}, {0, -1}},
	}
	for _, s := range steps[strings.ToUpper(p.board[square])] {
		if to := p.step(square, s[0], s[1]); to != "" && !p.isOwn(p.board[to]) {
			all = append(all, to)
		}
	}
	return all
}

// catch returns the square of the lion of the other player if it can be captured.
func (p naiveDobutsu) catch() string {
	for _, from := range naiveSquares {
		if !p.isOwn(p.board[from]) {
			continue
		}
		for _, to := range p.targets(from) {
			if strings.ToUpper(p.board[to]) == "L" {
				return to
			}
		}
	}
	return ""
}

// finished returns naive.Lose if the player to move has lost.
func (p naiveDobutsu) finished() string {
	safe, lost := false, true
	for square, letter := range p.board {
		switch {
		case letter == p.mover:
			lost = false
		case strings.ToUpper(letter) == "L" && p.step(square, 0, -1) == "":
			safe = p.catch() == ""
		}
	}
	if safe || lost {
		return naive.Lose
	}
	return ""
}

// moves returns the texts of the positions after each move.
func (p naiveDobutsu) moves() map[string]string {
	all := map[string]string{}
	side, other := strings.ToUpper, "l"
	if p.mover == "l" {
		side, other = strings.ToLower, "L"
	}
	catch := p.catch()
	for _, to := range naiveSquares {
		if catch != "" && to != catch {
			continue
		}
		for _, from := range naiveSquares {
			if !p.isOwn(p.board[from]) || !slices.Contains(p.targets(from), to) {
				continue
			}
			after := naiveDobutsu{board: map[string]string{}, hand: slices.Clone(p.hand), mover: other}
			for square, letter := range p.board {
				after.board[square] = letter
			}
			if captured := p.board[to]; captured != "" {
				after.hand = append(after.hand, side(strings.NewReplacer("H", "C").Replace(strings.ToUpper(captured))))
			}
			after.board[to] = p.board[from]
			if strings.ToUpper(p.board[from]) == "C" && p.step(to, 0, 1) == "" {
				after.board[to] = side("H")
			}
			delete(after.board, from)
			all[strings.ToUpper(p.board[from])+from+to] = after.String()
		}
		for i, held := range p.hand {
			if !p.isOwn(held) || p.board[to] != "" {
				continue
			}
			after := naiveDobutsu{board: map[string]string{to: held}, hand: slices.Delete(slices.Clone(p.hand), i, i+1), mover: other}
			for square, letter := range p.board {
				after.board[square] = letter
			}
			all[strings.ToUpper(held)+"*"+to] = after.String()
		}
	}
	return all
}

// images returns the texts of the images: the mirror image, and both seen from the other side.
func (p naiveDobutsu) images() (all []string) {
	exchange := strings.NewReplacer("a", "c", "c", "a")
	turn := strings.NewReplacer("a", "c", "c", "a", "1", "4", "2", "3", "3", "2", "4", "1")
	swap := func(letter string) string {
		if strings.ToUpper(letter) == letter {
			return strings.ToLower(letter)
		}
		return strings.ToUpper(letter)
	}
	same := func(letter string) string { return letter }
	for _, image := range []struct {
		square func(string) string
		letter func(string) string
	}{
		{same, same}, {exchange.Replace, same}, {turn.Replace, swap},
		{func(square string) string { return exchange.Replace(turn.Replace(square)) }, swap},
	} {
		q := naiveDobutsu{board: map[string]string{}, mover: image.letter(p.mover)}
		for square, letter := range p.board {
			q.board[image.square(square)] = image.letter(letter)
		}
		for _, letter := range p.hand {
			q.hand = append(q.hand, image.letter(letter))
		}
		all = append(all, q.String())
	}
	return all
}
