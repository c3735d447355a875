package lists

// What is tested apart.
var (
	SortRows    = sortRows
	CompareRows = compareRows
)
