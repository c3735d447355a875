package driver

import (
	"fmt"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/plan/disk"
	"github.com/treereduce/treereduce/internal/system"
)

const (
	// filesBeside is the number of open files of a run, not counting its shards.
	filesBeside = 64
	// fewParts is a number of shards that is always allowed.
	fewParts = 16
)

// enoughDisk asks for confirmation if the disk may be too small for the run: the user at a
// terminal; without a terminal, --yes is required. The files of the data directory do not count as
// missing space: the run continues them, or deletes them before it writes.
func (r *run) enoughDisk(o *solve.Options) error {
	g, place := r.Game, r.place
	need := disk.Bound(g, o)
	free, known := disk.Free(place.Path)
	free += disk.Used(place.Path)
	if place.HDFS != nil || !known || need <= free || r.flags.yes {
		return nil
	}
	ctx, stop := command.Interruptible(r.Context.Context)
	defer stop()
	need, err := disk.Planned(ctx, g, o, need)
	if err := command.Stopped(ctx, err); err != nil {
		return err
	}
	if need <= free {
		return nil
	}
	what := fmt.Sprintf("%s may need %s of disk space, and %s are available in %s", g.Spec(), numfmt.Bytes(need), numfmt.Bytes(free), place.Path)
	without := *o
	without.Final = solve.FinalNo
	if least, err := disk.Planned(ctx, g, &without, disk.Bound(g, &without)); err == nil && least < need {
		what += fmt.Sprintf("; --final no needs %s", numfmt.Bytes(least))
	}
	return command.Confirm(ctx, r.Context.App, r.flags.yes, what)
}

// enoughFiles checks that the process may open enough files: the shards of a directory, and
// those of another one that is read at the same time.
func enoughFiles(o *solve.Options) error {
	limit := system.MostFiles()
	most := max(fewParts, (limit-filesBeside)/2)
	if int64(o.Reducers) > most {
		return command.Usagef("--reducers %d: at most %d, because a process can open %d files here (ulimit -n)", o.Reducers, most, limit)
	}
	return nil
}
