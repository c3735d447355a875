package lists

import (
	"fmt"

	"github.com/treereduce/treereduce/internal/store"
)

// ToldGlob is the pattern of the names of the files of text that tell a tier something:
// of each reducer that does, one.
func ToldGlob(tier int) string { return fmt.Sprintf("%s%05d-*", store.OutboxPrefix, tier) }

// TextTo are the files of text that tell a tier something, with their paths; all is
// whether no file that is packed may do so too.
func (d *Dir) TextTo(tier int) (files []string, all bool) {
	all = true
	for _, b := range d.boxes {
		switch {
		case b.list != nil:
			all = false
		case b.tier == tier:
			files = append(files, b.name)
		}
	}
	return files, all
}
