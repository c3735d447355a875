package layers

// CompareRows exports compareRows.
var CompareRows = compareRows

// SortRows exports sorter.sort.
func SortRows(rows []Row) { new(sorter).sort(rows) }

// Merge exports merge.
var Merge = merge

// Outer exports State.outer.
var Outer = State.outer
