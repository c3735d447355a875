package report

import (
	"fmt"
	"slices"
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
	worths    []string            // the value of each position for the player to move, "" if it is not known
	judgments []analysis.Judgment // what the Judge says of each move; empty without one
}

// games replays the games, and judges their moves if there is a Judge.
func (r Report) games(rows []Row) ([]finished, error) {
	places := make(map[string]int)
	for i, row := range rows {
		places[row.Name] = i
	}
	known := make(map[game.Position]analysis.Report)
	var all []finished
	for _, p := range r.Played {
		f := finished{Played: p, places: [2]int{places[p.Players[0]], places[p.Players[1]]}}
		if r.Judge != nil {
			if err := f.judge(r.Judge, known); err != nil {
				return nil, err
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// judge fills in the values of the positions and the judgments of the moves. Known are the reports of
// positions of earlier games.
func (f *finished) judge(judge func(game.Position) (analysis.Report, error), known map[game.Position]analysis.Report) error {
	g := f.History.Game()
	reports := make([]analysis.Report, len(f.History.Names())+1)
	f.worths = make([]string, len(reports))
	for i := range slices.Backward(reports) { // a search keeps what it finds in later positions for earlier ones
		at := f.History.At(i)
		found, ok := known[at]
		if !ok {
			var err error
			if found, err = judge(at); err != nil {
				return err
			}
			known[at] = found
		}
		reports[i] = found
		if found.Known {
			f.worths[i] = found.Text(g, at)
		}
	}
	f.judgments = analysis.Review(g, f.History.Names(), f.Opening, reports)
	return nil
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
		Judged             bool
	}
	played struct {
		Players  [2]int // in Names
		Text     string
		Opening  int
		Moves    []string
		Turns    []int    // the player who makes each move
		Boards   []int    // before each move, and after the last
		Values   []string // of each of these positions, "" if it is not known; nil if none is
		Mistakes []mistake
		Turning  string // the turning point, if moves are judged
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
		Won: make(map[int][][2]int), Games: []played{}, Judged: r.Judge != nil,
	}
	for _, row := range rows {
		d.Names = append(d.Names, row.Name)
	}
	drawer := drawer{&d, r.Game, make(map[game.Position]int), make(map[game.Square]int)}
	for _, f := range games {
		of := played{Players: f.places, Text: f.text(), Values: f.worths, Opening: f.Opening, Moves: append([]string{}, f.History.Names()...), Turns: []int{}, Mistakes: []mistake{}}
		for i := range len(f.History.Names()) + 1 {
			of.Boards = append(of.Boards, drawer.number(f.History.At(i)))
		}
		for i := range f.History.Names() {
			of.Turns = append(of.Turns, int(f.History.Mover(i)))
		}
		for i, j := range f.judgments {
			if j.Mistake {
				of.Mistakes = append(of.Mistakes, mistake{i + 1, j.Text(r.Game, f.History.At(i))})
			}
		}
		if r.Judge != nil {
			of.Turning = analysis.TurningPoint(f.History, f.judgments, func(p game.Player) string {
				return fmt.Sprintf("%s (%s)", player.Who(r.Game, p), f.Players[p])
			})
		}
		d.Games = append(d.Games, of)
	}
	return d
}
