package referee

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/treereduce/treereduce/game"
)

// errNoGames is the error for a file of played games without games.
var errNoGames = errors.New("the file has no games")

// LastOf returns the last game of a file of played games. parse is that of NewReader.
func LastOf(name string, parse func(spec string) (game.Game, error)) (last Played, err error) {
	f, err := os.Open(name)
	if err != nil {
		return last, err
	}
	defer f.Close()
	r := NewReader(f, name, parse)
	for n := 0; ; n++ {
		p, _, err := r.Next()
		switch {
		case err == io.EOF && n == 0:
			return last, fmt.Errorf("%s: %w", name, errNoGames)
		case err == io.EOF:
			return last, nil
		case err != nil:
			return last, err
		}
		last = p
	}
}

// AppendTo appends a game to a file of played games, and creates the file if necessary. A file in another format is left
// unchanged.
func (p Played) AppendTo(name string, parse func(spec string) (game.Game, error)) error {
	_, err := LastOf(name, parse)
	created := errors.Is(err, fs.ErrNotExist)
	if err != nil && !created && !errors.Is(err, errNoGames) {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	if err = nil; created {
		err = WriteHeading(f, "")
	}
	return errors.Join(err, p.Write(f), f.Close())
}
