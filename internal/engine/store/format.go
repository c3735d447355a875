package store

// FormatVersion is the version of a data directory, and of its pack files (streamfmt/pack.go). A directory of another version
// is refused.
const FormatVersion = 4

// known lists the needs that this program satisfies: forms of files that an earlier program does not read, as
// NAME/VERSION, each with a comment that says which directories have it. The driver saves
// those that Method.Needs of package runner names before it writes the first such file; see Data.Remember.
var known = []string{ReachedNeed}

// ReachedNeed is the need of directories whose forward jobs write compact blocks: those of a game.Deduced.
const ReachedNeed = "reached/1"
