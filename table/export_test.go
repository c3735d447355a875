package table

// LimitClaims limits the memory for claims of Verify.
func (t *Table) LimitClaims(bytes int) { t.contents.(*blockTable).claims = bytes }
