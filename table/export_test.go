package table

import "github.com/treereduce/treereduce/internal/engine/method/blocks"

// LimitClaims limits the memory for claims of Verify.
func (t *Table) LimitClaims(bytes int) { t.method.(*blocks.Table).Claims = bytes }
