package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/status"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// Absent returns the reason why a data directory has no table: the name is wrong, or the run is
// not finished, with the command that resumes it. name is the directory as the command line
// gives it. Absent returns nil if there is a table, complete or not.
func Absent(place *filesys.Place, name string) error {
	if _, err := place.FS.Stat(path.Join(place.Path, table.Dir)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := place.FS.Stat(place.Path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such directory%s", name, likely(place, name))
	}
	m, err := store.ReadManifest(place.FS, place.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: not a data directory: it has no %s%s", name, store.ManifestFile, likely(place, name))
	}
	if err != nil {
		return err
	}
	how, goOn := "", fmt.Sprintf("; to continue: driver solve %s --data %s --resume", Flags(m.Game), name)
	if r, err := status.Read(place.FS, place.Path); err == nil {
		how, _, _ = strings.Cut(": "+r.State(), ";")
		if r.Error != "" {
			how += ": " + r.Error
		}
		if r.Status == solve.Running {
			goOn = ""
		}
	}
	return fmt.Errorf("%s: %s is not solved yet%s%s", name, m.Game, how, goOn)
}

// Flags returns a game as words of a command line: "connectn --width 3 --height 3".
func Flags(spec string) string {
	words := strings.Fields(spec)
	for i, word := range words {
		switch name, value, ok := strings.Cut(word, "="); {
		case name == program.Code: // the program itself determines it
			words[i] = "--" + command.RulesFlag + " COMMAND"
		case ok:
			words[i] = "--" + name + " " + value
		}
	}
	return strings.Join(words, " ")
}

// likely suggests, as a question, the data directory whose name is most similar to the name of
// one that does not exist; "" if none is similar.
func likely(place *filesys.Place, name string) string {
	parent := path.Dir(path.Clean(place.Path))
	entries, err := place.FS.ReadDir(parent)
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if _, err := place.FS.Stat(path.Join(parent, e.Name(), store.ManifestFile)); err == nil {
			names = append(names, e.Name())
		}
	}
	like := command.Like(path.Base(place.Path), names)
	if like == "" {
		return ""
	}
	name = strings.TrimRight(name, "/")
	return fmt.Sprintf(": did you mean %s%s?", name[:strings.LastIndex(name, "/")+1], like) // path.Join would change s3:// to s3:/
}
