package layers

// CompareRows exports compareRows.
var CompareRows = compareRows

// SortRows exports sorter.sort.
func SortRows(rows []Row) { new(sorter).sort(rows) }

// Merge exports merge.
var Merge = merge

// Outer exports State.outer.
var Outer = State.outer

// Find returns the rows of the only cell that can contain a key.
func Find(s *Source, key uint64) ([]Row, error) {
	if in, ok := s.find(key); ok {
		return new(Loader).Load(nil, s, in)
	}
	return nil, nil
}
