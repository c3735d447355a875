package game

// A Look says how a board is drawn on a page or in a picture, besides its Picture.
type Look struct {
	Square string            `json:"square"`          // the shape of a square: cell, hole or pit
	Pieces map[string]string `json:"pieces"`          // the shape of each Square.Text: disc, cross, ring, across, upright or number; "*" stands for any other
	Sight  string            `json:"sight,omitempty"` // pieces of these texts see one another along lines, which are drawn
}

// Looked is a game with a Look of its own.
type Looked interface {
	Look() Look
}

// LookOf returns the Look of a game. Without one of its own, squares are cells and pieces are
// drawn as their text.
func LookOf(g Game) Look {
	if l, ok := g.(Looked); ok {
		return l.Look()
	}
	return Look{Square: "cell"}
}
