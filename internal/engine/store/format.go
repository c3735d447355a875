package store

// The versions of the format of a data directory; those of its files are in streamfmt/frame.go. A directory of
// another version is refused.
const (
	// FormatVersion is the version of a directory whose manifest lists no needs.
	FormatVersion = 3
	// needsVersion is that of a directory whose manifest lists needs: programs that do not know the list refuse it.
	needsVersion = 4
)

// known lists the needs that this program satisfies: forms of files that an earlier version does not read, as
// NAME/VERSION, each with a comment that says which directories have it. The driver names its needs before it writes
// the first such file; see Data.Remember.
var known = []string{Layers}

// Layers is the need of a directory of a game solved by layers: only canonical positions have rows, and the cells of
// its table are coded.
const Layers = "layers/1"

// versionOf returns the version of a directory with these needs.
func versionOf(needs []string) int {
	if len(needs) > 0 {
		return needsVersion
	}
	return FormatVersion
}
