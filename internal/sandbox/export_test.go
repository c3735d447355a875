package sandbox

// Dirs returns the directories of a group.
func Dirs(g *Group) []string { return g.dirs }
