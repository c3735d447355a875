package table

import "github.com/treereduce/treereduce/internal/engine/stored"

// Parts returns the parts of the table of the method.
func (t *Table) Parts() ([]*stored.Part, error) {
	return t.method.Parts(func(int) bool { return true })
}
