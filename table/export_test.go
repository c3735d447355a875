package table

import (
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// LimitClaims limits the memory for claims of Verify.
func (t *Table) LimitClaims(bytes int) { t.method.(*blocks.Table).Claims = bytes }

// Parts returns the parts of the table of the method.
func (t *Table) Parts() ([]*stored.Part, error) { return t.method.Parts() }
