package lists

import "errors"

// Take adds the rows of another source, which it takes over, to those of a source: of
// Values of all tiers, to load them in the order of keys.
func (s *Source) Take(other *Source) error {
	for i, f := range other.files {
		if err := s.add(f); err != nil {
			other.files = other.files[i+1:]
			return errors.Join(err, other.Close())
		}
	}
	return nil
}
