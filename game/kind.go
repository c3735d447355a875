package game

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Param is a parameter of a game: a flag of the driver, a property of a job, a word
// NAME=VALUE of a Spec. It is an integer, or one of several words; the value of a word is
// its index.
type Param struct {
	Name    string   // lower case letters and digits
	Usage   string   // a few words for --help
	Default int      // an integer, or the index of a word
	Words   []string // the allowed words; nil: any integer
}

// Value parses a value of the parameter.
func (p Param) Value(text string) (int, error) {
	if p.Words == nil {
		n, err := strconv.Atoi(text)
		if err != nil {
			err = fmt.Errorf("expected an integer, found %q", text)
		}
		return n, err
	}
	if i := slices.Index(p.Words, text); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("expected %s, found %q", strings.Join(p.Words, " or "), text)
}

// Text returns the text of a value; Value is its inverse.
func (p Param) Text(value int) string {
	if p.Words == nil {
		return strconv.Itoa(value)
	}
	return p.Words[value]
}

// form returns the syntax of the parameter in a spec.
func (p Param) form() string {
	if p.Words == nil {
		return p.Name + "=NUMBER"
	}
	return p.Name + "=" + strings.Join(p.Words, "|")
}

// A Kind is a game without its parameters, as registered with a program.
type Kind struct {
	Name   string // the first word of a Spec: lower case letters and digits
	Usage  string // a few words for --help
	Params []Param
	// New returns the rules. args are the values of Params, in the same order. Its error
	// names the invalid parameter and the allowed values.
	New func(args []int) (Game, error)
}

// LineKind returns the kind of a game on a board of width columns and height rows, in which
// connect pieces in a row win.
func LineKind[G Game](name, usage, pieces string, rules func(width, height, connect int) (G, error)) Kind {
	return Kind{
		Name:  name,
		Usage: usage,
		Params: []Param{
			{Name: "width", Usage: "columns of the board", Default: 3},
			{Name: "height", Usage: "rows of the board", Default: 3},
			{Name: "connect", Usage: pieces + " in a row that win", Default: 3},
		},
		New: func(args []int) (Game, error) {
			g, err := rules(args[0], args[1], args[2])
			if err != nil {
				return nil, err // not g: a nil pointer in a Game is not nil
			}
			return g, nil
		},
	}
}

// CheckLine returns an error if these are not the parameters of a game of LineKind, or if the
// board does not fit; limit describes the boards that do.
func CheckLine(name string, width, height, connect int, fits bool, limit string) error {
	switch {
	case width < 1 || height < 1 || connect < 1:
		return fmt.Errorf("%s: width, height and connect must be at least 1, found %d, %d and %d", name, width, height, connect)
	case !fits:
		return fmt.Errorf("%s: a board of %d×%d does not fit: %s", name, width, height, limit)
	case connect > max(width, height):
		return fmt.Errorf("%s: connect %d is longer than both sides of a board of %d×%d", name, connect, width, height)
	}
	return nil
}

// Make returns the rules of the game with these parameter values, which come from Param.Value.
// The Spec of the rules must contain them: mappers, reducers and the reader of a table
// identify the game by its Spec.
func (k Kind) Make(args []int) (Game, error) {
	g, err := k.New(args)
	if err != nil {
		return nil, err
	}
	spec := k.Name
	for i, p := range k.Params {
		spec += " " + p.Name + "=" + p.Text(args[i])
	}
	if g.Spec() != spec {
		return nil, fmt.Errorf("game %s: its Spec must be %q, found %q", k.Name, spec, g.Spec())
	}
	return g, nil
}

// Default returns the rules of the game with its default parameters.
func (k Kind) Default() (Game, error) {
	var args []int
	for _, p := range k.Params {
		args = append(args, p.Default)
	}
	return k.Make(args)
}

// Kinds are the games that a program knows.
type Kinds []Kind

// Names returns the names of the games.
func (ks Kinds) Names() []string {
	var names []string
	for _, k := range ks {
		names = append(names, k.Name)
	}
	return names
}

// Named returns the kind with this name; ok is false if there is none.
func (ks Kinds) Named(name string) (k Kind, ok bool) {
	i := slices.IndexFunc(ks, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return k, false
	}
	return ks[i], true
}

// An UnknownError is the error for the spec of a game that is not among some Kinds.
type UnknownError struct{ Spec string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("game %q is not one that this program knows", e.Spec)
}

// A ParamError is the error for a spec in which a parameter has a value that it cannot have.
type ParamError struct {
	Spec  string
	Param Param
	Found string
}

func (e *ParamError) Error() string {
	return fmt.Sprintf("game %q: expected %s, found %q", e.Spec, e.Param.form(), e.Found)
}

// Parse returns the game with this spec, as returned by Game.Spec: "connectn width=4
// height=5 connect=3". The parameters have the same order as in Kind.Params.
func (ks Kinds) Parse(spec string) (Game, error) {
	words := strings.Fields(spec)
	if len(words) == 0 {
		return nil, &UnknownError{spec}
	}
	kind, ok := ks.Named(words[0])
	if !ok {
		return nil, &UnknownError{spec}
	}
	words = words[1:]
	if len(words) != len(kind.Params) {
		form := kind.Name
		for _, p := range kind.Params {
			form += " " + p.form()
		}
		return nil, fmt.Errorf("game %q: expected %s", spec, form)
	}
	args := make([]int, len(kind.Params))
	for i, p := range kind.Params {
		text, ok := strings.CutPrefix(words[i], p.Name+"=")
		var err error
		if args[i], err = p.Value(text); !ok || err != nil {
			return nil, &ParamError{spec, p, words[i]}
		}
	}
	return kind.Make(args)
}

// word matches a valid name of a game or a parameter, and a valid word of a parameter. Each of
// them must be usable as a flag, in a spec, and in the name of an environment variable.
var word = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// Check returns an error if the kinds themselves are invalid, which is a mistake of the
// program: two games or two parameters with the same name, an invalid name, or a default
// that is not the index of a word.
func (ks Kinds) Check() error {
	if len(ks) == 0 {
		return errors.New("no games are given")
	}
	for i, k := range ks {
		switch {
		case !word.MatchString(k.Name):
			return fmt.Errorf("game %q: its name must be small letters and digits", k.Name)
		case slices.Contains(ks[:i].Names(), k.Name):
			return fmt.Errorf("game %s is given twice", k.Name)
		case k.New == nil:
			return fmt.Errorf("game %s: it has no New", k.Name)
		}
		for j, p := range k.Params {
			err := p.check()
			if slices.ContainsFunc(k.Params[:j], func(q Param) bool { return q.Name == p.Name }) {
				err = errors.New("it is given twice")
			}
			if err != nil {
				return fmt.Errorf("game %s, parameter %q: %w", k.Name, p.Name, err)
			}
		}
	}
	return nil
}

// check returns an error if the parameter is invalid.
func (p Param) check() error {
	if !word.MatchString(p.Name) {
		return errors.New("its name must be small letters and digits")
	}
	if p.Words == nil {
		return nil
	}
	for i, w := range p.Words {
		if !word.MatchString(w) || slices.Contains(p.Words[:i], w) {
			return fmt.Errorf("word %q: expected small letters and digits, each word once", w)
		}
	}
	if p.Default < 0 || p.Default >= len(p.Words) {
		return fmt.Errorf("its default is word %d of %d, counted from 0", p.Default, len(p.Words))
	}
	return nil
}
