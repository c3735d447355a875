//go:build !js

package jobdir

// ReadsText reports whether files of text are read. A browser reads only tables, which have none, so its program
// leaves out what that needs.
const ReadsText = true
