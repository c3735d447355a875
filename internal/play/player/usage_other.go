//go:build !linux

package player

// CanMeter reports whether this system shows the times of a program while it runs.
const CanMeter = false

// A tree is the processes of a program.
type tree struct{ keeper bool }

// usage returns false: only Linux shows the times of other processes while they run.
func (*tree) usage(int) (Usage, bool) { return Usage{}, false }
