package lists

// SortRows is sortRows.
var SortRows = sortRows
