package lists

// CompareRows is compareRows.
var CompareRows = compareRows

// SortRows is a sorter's sort.
func SortRows(rows []Row) { new(sorter).sort(rows) }

// Merge is merge.
var Merge = merge
