package report

import (
	"fmt"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// A finished is a game of the tournament with what the page shows of it.
type finished struct {
	referee.Played
	places    [2]int              // the places of its players in the ranking, from 0
	judgments []analysis.Judgment // what the Judge says of each move; empty without one
}

// games judges the moves of the games if there is a Judge.
func (r Report) games(rows []Row) (all []finished, err error) {
	places := make(map[string]int)
	for i, row := range rows {
		places[row.Name] = i
	}
	for _, p := range r.Played {
		f := finished{Played: p, places: [2]int{places[p.Players[0]], places[p.Players[1]]}}
		if r.Judge != nil {
			if f.judgments, err = r.Judge(p); err != nil {
				return nil, err
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// text describes how the game ended.
func (f finished) text() string {
	if !f.Fault() {
		return f.Text(f.History.Game().Values())
	}
	return f.Explain() + " (" + short(f.Message) + ")"
}

// short returns the beginning of the message of a fault.
func short(message string) string {
	const length = 200
	if len(message) <= length {
		return message
	}
	return strings.ToValidUTF8(message[:length], "") + "…"
}

// The data of the games, for the script. A board is a text with a character for each square, from
// the top left: firstSquare and the next ones stand for the squares in Squares.
type (
	data struct {
		Look               game.Look
		Players, Names     []string // what the game calls the players; the entrants, best first
		Squares            []game.Square
		Width              int
		Above, Below, Left []string
		Boards             []string
		Won                map[int][][2]int // by board
		Games              []played
	}
	played struct {
		Players  [2]int // in Names
		Text     string
		Opening  int
		Moves    []string
		Turns    []int    // the player who makes each move
		Boards   []int    // before each move, and after the last
		Values   []string // of the positions before each move, "" if it is not known
		Mistakes []mistake
		Turning  string // the turning point, "" if moves are not judged
	}
	mistake struct {
		Move int // from 1
		Text string
	}
)

// firstSquare is the character of the first of data.Squares.
const firstSquare = '0'

// A drawer numbers the boards of positions, and keeps each once.
type drawer struct {
	*data
	g       game.Game
	boards  map[game.Position]int
	squares map[game.Square]int
}

// number returns the number of a position's board.
func (d *drawer) number(p game.Position) int {
	if n, ok := d.boards[p]; ok {
		return n
	}
	picture, text := d.g.Picture(p), ""
	for _, row := range picture.Rows {
		for _, s := range row {
			if _, ok := d.squares[s]; !ok {
				d.squares[s] = len(d.Squares)
				d.Squares = append(d.Squares, s)
			}
			text += string(rune(firstSquare + d.squares[s]))
		}
	}
	n := len(d.Boards)
	d.boards[p], d.Boards = n, append(d.Boards, text)
	if len(picture.Won) > 0 {
		d.Won[n] = picture.Won
	}
	return n
}

// data returns the data of all games.
func (r Report) data(rows []Row, games []finished) data {
	start := r.Game.Picture(r.Game.Start())
	d := data{
		Look: r.Game.Info().Look, Players: sides(r.Game), Width: len(start.Rows[0]), Above: start.Above, Below: start.Below, Left: start.Left,
		Won: make(map[int][][2]int), Games: []played{},
	}
	for _, row := range rows {
		d.Names = append(d.Names, row.Name)
	}
	drawer := drawer{&d, r.Game, make(map[game.Position]int), make(map[game.Square]int)}
	for _, f := range games {
		of := played{Players: f.places, Text: f.text(), Values: []string{}, Opening: f.Opening, Moves: append([]string{}, f.History.Names()...), Turns: []int{}, Mistakes: []mistake{}}
		for i := range len(f.History.Names()) + 1 {
			of.Boards = append(of.Boards, drawer.number(f.History.At(i)))
		}
		for i := range f.History.Names() {
			of.Turns = append(of.Turns, int(f.History.Mover(i)))
		}
		for i, j := range f.judgments {
			text := ""
			if j.Before.Known {
				text = j.Before.Text(r.Game, f.History.At(i))
			}
			of.Values = append(of.Values, text)
			if j.Mistake {
				of.Mistakes = append(of.Mistakes, mistake{i + 1, j.Text(r.Game, f.History.At(i))})
			}
		}
		if len(f.judgments) > 0 {
			of.Turning = analysis.TurningPoint(f.History, f.judgments, func(p game.Player) string {
				return fmt.Sprintf("%s (%s)", player.Who(r.Game, p), f.Players[p])
			})
		}
		d.Games = append(d.Games, of)
	}
	return d
}
