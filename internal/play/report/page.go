package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/chart"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/play/board"
	"github.com/treereduce/treereduce/internal/play/player"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.js
	pageScript []byte
	//go:embed page.css
	pageStyle string
)

// page is what the template of the page shows.
type page struct {
	Title, Note, Policy string
	Rows                []pageRow
	Faults              []fault
	Style               template.CSS
	Script              template.JS
	Data                data
}

// pageRow is a row of the ranking.
type pageRow struct {
	Row
	Rating, Error, LOS, Points, Mean, Longest string
	Cells                                     []cell
}

// A cell is the result against one opponent.
type cell struct {
	Points, Label string
	Row, Column   int // in the ranking, from 0
}

// A fault is a game that was lost by a fault.
type fault struct {
	Game int // from 1
	Text string
}

// The data of the games, for the script. A board is a text with a character for each square, from
// the top left: firstSquare and the next ones stand for the squares in Squares.
type (
	data struct {
		Look               game.Look
		Players, Names     []string // what the game calls the players; the entrants, best first
		Squares            []square
		Width              int
		Above, Below, Left []string
		Boards             []string
		Won                map[int][][2]int // by board
		Games              []played
	}
	square struct {
		Kind  int    `json:"kind"`
		Text  string `json:"text"`
		Owner int    `json:"owner"`
	}
	played struct {
		Players [2]int // in Names
		Text    string
		Opening int
		Moves   []string
		Turns   []int // who makes each move
		Boards  []int // before each move, and after the last
	}
)

// firstSquare is the character of the first of data.Squares.
const firstSquare = '0'

// HTML writes the page. It needs no other file, and its policy forbids the browser to run or load
// anything else.
func (r Report) HTML(w io.Writer) error {
	parsed, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	script := bytes.Join([][]byte{board.Script, pageScript}, []byte("\n"))
	style := chart.StyleSheet + board.StyleSheet + pageStyle
	rows := Rows(r.Cross)
	p := page{
		Title: game.TitleOf(r.Game), Note: r.Note, Style: template.CSS(style), Script: template.JS(script),
		Policy: fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hash([]byte(style)), hash(script)),
	}
	places := make(map[string]int)
	for i, row := range rows {
		places[row.Name] = i
		p.Rows = append(p.Rows, rowOf(row, i, rows))
	}
	for i, g := range r.Played {
		if g.Fault() {
			p.Faults = append(p.Faults, fault{i + 1, fmt.Sprintf("%s - %s: %s", g.Players[0], g.Players[1], g.Text())})
		}
	}
	if p.Data, err = r.data(rows, places); err != nil {
		return err
	}
	return parsed.Execute(w, p)
}

// hash returns the name of a text in a policy.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// rowOf returns a row of the ranking, the one with index i.
func rowOf(row Row, i int, rows []Row) pageRow {
	p := pageRow{
		Row: row, Rating: fmt.Sprintf("%+.0f", row.Rating.Elo), Error: fmt.Sprintf("%.0f", row.Rating.Error), LOS: Percent(row.Superiority), Points: Points(row.Standing),
		Mean: numfmt.Duration(row.Mean()), Longest: numfmt.Duration(row.Longest),
	}
	for j, s := range row.Against {
		c := cell{Row: i, Column: j}
		if s.Games() > 0 {
			c.Points = Points(s)
			c.Label = fmt.Sprintf("%s against %s: %s", row.Name, rows[j].Name, c.Points)
		}
		p.Cells = append(p.Cells, c)
	}
	return p
}

// data returns the data of all games.
func (r Report) data(rows []Row, places map[string]int) (data, error) {
	start := r.Game.Picture(r.Game.Start())
	d := data{
		Look: r.Game.Info().Look, Players: []string{player.Who(r.Game, game.First), player.Who(r.Game, game.Second)},
		Width: len(start.Rows[0]), Above: start.Above, Below: start.Below, Left: start.Left, Won: make(map[int][][2]int), Games: []played{},
	}
	for _, row := range rows {
		d.Names = append(d.Names, row.Name)
	}
	known, squares := make(map[game.Position]int), make(map[game.Square]int)
	// numberOf returns the number of a position's board.
	numberOf := func(p game.Position) int {
		if n, ok := known[p]; ok {
			return n
		}
		picture, text := r.Game.Picture(p), ""
		for _, row := range picture.Rows {
			for _, s := range row {
				if _, ok := squares[s]; !ok {
					squares[s] = len(d.Squares)
					d.Squares = append(d.Squares, square{int(s.Kind), s.Text, int(s.Owner)})
				}
				text += string(rune(firstSquare + squares[s]))
			}
		}
		n := len(d.Boards)
		known[p], d.Boards = n, append(d.Boards, text)
		if len(picture.Won) > 0 {
			d.Won[n] = picture.Won
		}
		return n
	}
	for _, g := range r.Played {
		of := played{
			Players: [2]int{places[g.Players[0]], places[g.Players[1]]}, Text: g.Text(), Opening: g.Opening, Moves: append([]string{}, g.Moves...), Turns: []int{},
		}
		h := player.NewHistory(r.Game)
		of.Boards = append(of.Boards, numberOf(h.Position()))
		for _, name := range g.Moves {
			of.Turns = append(of.Turns, int(h.Turn()))
			if err := h.Play(name); err != nil {
				return d, fmt.Errorf("report: %w", err)
			}
			of.Boards = append(of.Boards, numberOf(h.Position()))
		}
		d.Games = append(d.Games, of)
	}
	return d, nil
}
