package tui

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// humanName is the name of a person in a file of played games.
const humanName = "human"

// save appends a play to a file of played games, and creates the file if necessary. A file
// in another format is left unchanged.
func save(name string, p referee.Played, parse func(spec string) (game.Game, error)) error {
	var text bytes.Buffer
	_, err := lastOf(name, parse)
	flags := os.O_WRONLY | os.O_APPEND
	switch {
	case errors.Is(err, fs.ErrNotExist):
		flags |= os.O_CREATE | os.O_EXCL
		referee.WriteHeading(&text, "")
	case err != nil && !errors.Is(err, errNoGames):
		return err
	}
	p.Write(&text)
	f, err := os.OpenFile(name, flags, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text.Bytes())
	return errors.Join(err, f.Close())
}

// errNoGames is the error for a file of played games without games.
var errNoGames = errors.New("the file has no games")

// lastOf returns the last play of a file of played games.
func lastOf(name string, parse func(spec string) (game.Game, error)) (last referee.Played, err error) {
	f, err := os.Open(name)
	if err != nil {
		return last, err
	}
	defer f.Close()
	r := referee.NewReader(f, name, parse)
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

// played returns the record of a play in its current state.
func played(h *player.History, names [2]string) referee.Played {
	p := referee.Played{Game: h.Game().Spec(), Players: names, Moves: h.Names(), Reason: referee.Adjourned}
	if outcome, reason, over := referee.Ended(h, game.DrawRuleOf(h.Game())); over {
		p.Outcome, p.Reason = outcome, reason
	}
	return p
}
