// Package python contains the sources of the Python package treereduce, as far as Go programs
// print them.
package python

import _ "embed"

// Engine is the source of treereduce/engine.py, the base class of programs that play.
//
//go:embed treereduce/engine.py
var Engine string
