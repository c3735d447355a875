package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/board"
)

// AutoGUI is GamesmanUni's notation for what it draws. A position is the player to move and a
// character for each entity: - for none, and . for a text, which follows after all characters.
// A move is a button: A_CHARACTER_CENTER, an arrow M_FROM_TO, a line L_A_B, or a text
// T_TEXT_CENTER; then an optional sound. Centers are numbers of points: first those of the
// squares, in the order of the entities, then those of the moves.

// The shapes of game.Look that have an AutoGUI of their own.
const (
	hole    = "hole" // a board whose columns fill
	across  = "across"
	upright = "upright"
	point   = "point"
	cube    = "cube"
)

// animals are the shapes of pieces of which GamesmanUni has no pictures: it shows their letters.
var animals = []string{"lion", "giraffe", "elephant", "chick", "hen"}

// A layout is the order of the squares of a picture as entities.
type layout struct {
	look          game.Look
	width, height int
}

func layoutOf(g game.Game, pic game.Picture) layout {
	return layout{g.Info().Look, len(pic.Rows[0]), len(pic.Rows)}
}

// squares returns the number of squares.
func (l layout) squares() int { return l.width * l.height }

// index returns the number of a square: column by column, from the top, if columns fill, and row
// by row otherwise.
func (l layout) index(at board.Place) int {
	if l.look.Square == hole {
		return at[0]*l.height + at[1]
	}
	return at[1]*l.width + at[0]
}

// shape returns the shape of a piece.
func (l layout) shape(s game.Square) string {
	if shape, ok := l.look.Pieces[s.Text]; ok {
		return shape
	}
	return l.look.Pieces["*"]
}

// entity returns the character of a square.
func (l layout) entity(s game.Square) byte {
	shape := l.shape(s)
	switch {
	case l.look.Square == cube && s.Text == game.Empty:
		return 'B'
	case s.Kind == game.Gap || s.Text == game.Empty || s.Text == "":
		return '-'
	case shape == "number", l.look.Square == point && s.Kind == game.Goal, slices.Contains(animals, shape):
		return '.'
	case shape == across:
		return 'h'
	case shape == upright:
		return 'v'
	case l.look.Square == hole && s.Owner != game.Nobody:
		return "XO"[s.Owner-game.OfFirst]
	case plain(s.Text) != "":
		return plain(s.Text)[0]
	}
	return '-'
}

// plain returns the characters of a text that AutoGUI allows.
func plain(text string) string {
	return strings.Map(func(c rune) rune {
		if c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			return c
		}
		return -1
	}, text)
}

// autoGUI returns the position in AutoGUI.
func (at apiAt) autoGUI() string {
	l := layoutOf(at.g, at.pic)
	entities, texts := make([]byte, l.squares()), make([]string, l.squares())
	for y, row := range at.pic.Rows {
		for x, s := range row {
			i := l.index(board.Place{x, y})
			if entities[i] = l.entity(s); entities[i] == '.' {
				texts[i] = "~" + plain(s.Text)
			}
		}
	}
	return fmt.Sprintf("%d_%s%s", at.turn+1, entities, strings.Join(texts, ""))
}

// autoGUIMoves returns the buttons of moves, each different. after are the positions after them.
func (at apiAt) autoGUIMoves(moves []game.Move, after []apiAt) []string {
	l := layoutOf(at.g, at.pic)
	buttons, used := make([]string, len(moves)), map[string]bool{}
	for i, spot := range board.Spots(at.g, at.p, moves) {
		button := l.button(spot, at.pic, after[i].pic)
		if button == "" || used[button] {
			at := i
			if spot.Path {
				at = l.index(spot.Squares[len(spot.Squares)-1])
			}
			button = fmt.Sprintf("T_%s_%d", plain(moves[i].Name), l.squares()+at)
		}
		buttons[i], used[button] = button, true
	}
	return buttons
}

// button returns the button of a move; "" if the picture does not show it.
func (l layout) button(spot board.Spot, before, after game.Picture) string {
	n := l.squares()
	was := func(at board.Place) game.Square { return before.Rows[at[1]][at[0]] }
	is := func(at board.Place) game.Square { return after.Rows[at[1]][at[0]] }
	switch changed := spot.Squares; {
	case spot.Path: // to where it moves, or to the piece that it takes
		return fmt.Sprintf("M_%d_%d", l.index(changed[0]), l.index(changed[len(changed)-1]))
	case spot.Label && l.look.Square == hole: // an arrow above the column
		return fmt.Sprintf("M_%d_%d_x", n+spot.At[0], n+l.width+spot.At[0])
	case spot.Label && spot.At[1] < 0:
		return fmt.Sprintf("A_-_%d", n+spot.At[0])
	case spot.Label:
		return fmt.Sprintf("A_-_%d", n+l.width+spot.At[0])
	case len(changed) == 1:
		at := changed[0]
		i, shape, empty := l.index(at), l.shape(is(at)), was(at).Text == game.Empty
		switch {
		case !empty && (shape == across || shape == upright): // it is turned
			return fmt.Sprintf("A_r_%d_x", i)
		case shape == across:
			return fmt.Sprintf("L_%d_%d_y", n+i, 2*n+i)
		case shape == upright:
			return fmt.Sprintf("L_%d_%d_y", 3*n+i, 4*n+i)
		}
		return fmt.Sprintf("A_%c_%d", l.entity(is(at)), i)
	case len(changed) == 2:
		from, to := changed[0], changed[1]
		if is(to).Text == game.Empty {
			from, to = to, from
		}
		if is(from).Kind == game.Goal {
			from, to = to, from
		}
		switch hand := is(to).Kind == game.Goal; {
		case hand && was(to).Text[:1] == is(from).Text: // a piece from the hand
			return fmt.Sprintf("M_%d_%d", l.index(to), l.index(from))
		case hand:
			return fmt.Sprintf("A_%c_%d", l.entity(is(from)), l.index(from))
		case was(from).Text != game.Empty && is(from).Text == game.Empty:
			return fmt.Sprintf("M_%d_%d", l.index(from), l.index(to))
		}
	}
	return ""
}

// autoGUIImages says where GamesmanUni draws the entities, and with which of its pictures.
type autoGUIImages struct {
	DefaultTheme string                  `json:"defaultTheme"`
	Themes       map[string]autoGUITheme `json:"themes"`
}

type autoGUITheme struct {
	Space      [2]float64              `json:"space"`
	Centers    [][2]float64            `json:"centers"`
	Background string                  `json:"background,omitempty"`
	Foreground string                  `json:"foreground,omitempty"`
	Images     map[string]autoGUIImage `json:"charImages"`
	ArrowWidth float64                 `json:"arrowWidth,omitempty"`
	TextSize   float64                 `json:"textEntityFontSize,omitempty"`
	LineWidth  float64                 `json:"lineWidth,omitempty"`
	Sounds     map[string]string       `json:"sounds"`
	Animation  string                  `json:"animationType"`
}

type autoGUIImage struct {
	Image string  `json:"image"`
	Scale float64 `json:"scale"`
}

// A pointBoard is GamesmanUni's picture of a board of points: its size, the place of its first point, and the
// distance of points.
type pointBoard struct {
	image             string
	size, x, y, apart float64
}

var (
	sixMen      = pointBoard{"369mm/board6mm.svg", 220, 30, 20, 40}
	teeko       = pointBoard{"teeko/board.svg", 600, 100, 100, 100}
	pointBoards = map[string]pointBoard{
		"mills men=5": sixMen, "mills men=6": sixMen, "mills men=9": {"369mm/board.svg", 300, 40, 20, 40},
		"teeko variant=standard": teeko, "teeko variant=advanced": teeko,
	}
)

// imagesOf returns the pictures of a game whose pieces fill columns, lie across and upright, or are on points, cubes or
// animals, and nil for any other game: GamesmanUni then lists its moves as buttons.
func imagesOf(g game.Game) *autoGUIImages {
	start := g.Picture(g.Start())
	l := layoutOf(g, start)
	theme := autoGUITheme{Animation: "entityFade", Centers: make([][2]float64, l.squares())}
	place := func(scale, above float64) {
		for y := range l.height {
			for x := range l.width {
				theme.Centers[l.index(board.Place{x, y})] = [2]float64{(float64(x) + 0.5) * scale, (float64(y)+0.5)*scale + above}
			}
		}
	}
	bars, tiles := false, false
	for _, shape := range l.look.Pieces {
		bars = bars || shape == across || shape == upright
		tiles = tiles || slices.Contains(animals, shape)
	}
	switch w, h := float64(l.width), float64(l.height); {
	case l.look.Square == hole:
		theme.Space, theme.ArrowWidth = [2]float64{w, h + 1}, 0.13
		place(1, 1)
		for y := range 2 { // the ends of the arrows
			for x := range l.width {
				theme.Centers = append(theme.Centers, [2]float64{float64(x) + 0.5, float64(y)})
			}
		}
		theme.Images = map[string]autoGUIImage{"X": {"general/blue_circle.svg", 1}, "O": {"general/red_circle.svg", 1}}
		theme.Sounds = map[string]string{"x": "general/remove.mp3"}
		if l.height == 6 && (l.width == 6 || l.width == 7) { // the sizes that GamesmanUni has
			theme.Foreground = fmt.Sprintf("connect4/foreground6x%d.svg", l.width)
		}
	case bars:
		const side, half = 100, 32 // of a square, and of the line of a move
		theme.Space, theme.LineWidth = [2]float64{w * side, h * side}, 6
		place(side, 0)
		squares := theme.Centers
		for _, d := range [][2]float64{{-half, 0}, {half, 0}, {0, -half}, {0, half}} { // the ends of the lines
			for _, c := range squares {
				theme.Centers = append(theme.Centers, [2]float64{c[0] + d[0], c[1] + d[1]})
			}
		}
		theme.Images = map[string]autoGUIImage{"h": {"quickcross/H.svg", 70}, "v": {"quickcross/V.svg", 70}, "r": {"quickcross/rotate.svg", 70}}
		theme.Sounds = map[string]string{"x": "general/place.mp3", "y": "general/remove.mp3"}
		if l.width == 4 && l.height == 4 {
			theme.Background = "quickcross/background.svg"
		}
	case l.look.Square == cube:
		const side = 4
		theme.Space, theme.ArrowWidth = [2]float64{w * side, h * side}, 0.1
		place(side, 0)
		theme.Images = map[string]autoGUIImage{"X": {"quixo/x.svg", side}, "O": {"quixo/o.svg", side}, "B": {"quixo/blank.svg", side}}
	case l.look.Square == point:
		b, ok := pointBoards[g.Spec()]
		if !ok {
			b = pointBoard{size: 40 * h, x: 20, y: 20, apart: 40}
		}
		theme.Space, theme.Background, theme.ArrowWidth, theme.TextSize = [2]float64{b.size, b.size}, b.image, b.apart/10, b.apart/2
		for y, row := range start.Rows {
			for x, s := range row {
				c := [2]float64{b.x + b.apart*float64(x), b.y + b.apart*float64(y)}
				if s.Kind == game.Goal { // the hands are in the middle of the board
					c = [2]float64{b.x + b.apart*(w-1)/2 + []float64{-1, 1}[s.Owner-game.OfFirst]*b.apart*3/8, b.y + b.apart*(h-2)/2}
				}
				theme.Centers[l.index(board.Place{x, y})] = c
			}
		}
		theme.Centers = slices.Concat(theme.Centers, theme.Centers) // the second ones are of texts
		theme.Images = map[string]autoGUIImage{}
		for text, name := range map[string]string{"W": "white", "B": "black", "R": "red"} {
			theme.Images[text] = autoGUIImage{"general/" + name + "piece.svg", b.apart * 0.7}
		}
	case tiles:
		const side = 100
		theme.Space, theme.ArrowWidth, theme.TextSize = [2]float64{w * side, h * side}, 7, side/2
		place(side, 0)
		theme.Images = map[string]autoGUIImage{}
	default:
		return nil
	}
	return &autoGUIImages{"regular", map[string]autoGUITheme{"regular": theme}}
}

// guiOf returns v2 if imagesOf returns pictures, and v0 otherwise.
func guiOf(g game.Game) string {
	if imagesOf(g) != nil {
		return "v2"
	}
	return "v0"
}
