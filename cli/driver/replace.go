package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/status"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// quick is the longest time that a finished run may have taken if --replace is to replace it.
const quick = time.Minute

// replaceMode returns the mode for --replace, which make proj2 uses: a finished run of the same
// game is resumed, so that its result is printed again; a finished run of another game is
// overwritten if it took less than quick, and note describes that. Any other run is refused.
func replaceMode(place *filesys.Place, g game.Game) (mode store.Mode, note string, err error) {
	m, err := store.ReadManifest(place.FS, place.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return store.Fresh, "", nil
	}
	if err != nil {
		return 0, "", err
	}
	if working, _ := store.AtWork(place.FS, place.Path); working {
		return 0, "", fmt.Errorf("data directory %s: %w", place.Path, store.ErrLocked)
	}
	refuse := func(why, resume string) error {
		return fmt.Errorf("data directory %s: %s %s: %s--data DIR (make: DATA=DIR) names another directory, --overwrite (make: OVERWRITE=1) replaces it",
			place.Path, m.Game, why, resume)
	}
	same := m.Game == g.Spec()
	r, err := status.Read(place.FS, place.Path)
	if err != nil || r.Status != solve.Solved {
		resume := ""
		if same {
			resume = "--resume (make: RESUME=1) continues it, "
		}
		return 0, "", refuse("is not finished", resume)
	}
	if same {
		return store.Resume, "", nil
	}
	var took time.Duration
	first := false
	for _, job := range r.Journal.Jobs {
		took += time.Duration(job.Seconds * float64(time.Second))
		first = first || job.Step == step.Init
	}
	if !first { // the journal was lost, and a resumed run started a new one
		return 0, "", refuse("is solved, but "+store.JournalFile+" does not record how long it took", "")
	}
	if took >= quick {
		return 0, "", refuse(fmt.Sprintf("took %s to solve", numfmt.Duration(took)), "")
	}
	return store.Overwrite, fmt.Sprintf("%s: %s, solved in %s, is replaced", place.Path, m.Game, numfmt.Duration(took)), nil
}
