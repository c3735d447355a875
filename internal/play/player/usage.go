package player

import "time"

// A Usage is the time that the processes of a player have spent so far.
type Usage struct {
	CPU    time.Duration
	Waited time.Duration // of all threads, for a CPU while others had them all
}

// Metered is a player that runs in processes of its own.
type Metered interface {
	// Usage returns the times of its processes, and whether they are known.
	Usage() (Usage, bool)
}

var _ Metered = (*Program)(nil)

// Usage returns the times of the program and of all its processes.
func (p *Program) Usage() (Usage, bool) { return p.tree.usage(p.cmd.Process.Pid) }
