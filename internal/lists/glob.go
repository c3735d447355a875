package lists

import "fmt"

// ToldGlob is the pattern of the names of all files of text that tell a tier something:
// of each reducer that does, one.
func ToldGlob(tier int) string { return fmt.Sprintf("to-%05d-*", tier) }
