package solve

import (
	"regexp"
	"slices"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/table"
)

// jobName matches the directories of all jobs but the last: those of tiers and of passes, also of earlier formats.
var jobName = regexp.MustCompile(`^(create|(data_first|data_second|mark|solve|ties)[0-9]+(\.t?[0-9]+)?)$`)

// IsRunArtifact reports whether a name in a data directory is one that runs use there, apart
// from the manifest and the names that begin with "_".
func IsRunArtifact(name string) bool {
	return jobName.MatchString(name) || slices.Contains([]string{table.Dir, FinalDir, store.JournalFile, store.SeedFile}, name)
}
