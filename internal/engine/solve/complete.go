package solve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// The output of an earlier run is read completely before it is used: it may have been
// truncated by a crash of the machine, or changed since. Damaged output is treated as missing,
// and is rebuilt if a later job needs it.

// sealOf returns the seal of a directory; nil: the directory is not complete.
func (r *run) sealOf(ctx context.Context, name string) (*store.Seal, error) {
	if seal, known := r.seals[name]; known || !r.data.Resumed {
		return seal, nil
	}
	seal, err := jobdir.Check(ctx, r.data.FS, r.data.Dir(name), r.data.Game)
	switch {
	case err == nil:
	case jobdir.Damaged(err):
		if _, missing := r.data.FS.Stat(r.data.Dir(name)); !errors.Is(missing, fs.ErrNotExist) {
			r.damage[name] = err
		}
	default:
		return nil, err
	}
	r.seals[name] = seal
	return seal, nil
}

// warnRerun warns that a step is rerun because its output is damaged. It also warns, only once per
// run, if the output of a step that has run is missing.
func (r *run) warnRerun(name string) {
	if err := r.damage[name]; err != nil {
		delete(r.damage, name)
		r.reportDamage(name, "%v: the job runs again", err)
	} else if r.seals[name] == nil && r.journal.ran(name) && !r.warned {
		r.warned = true
		r.reportDamage(name, "%s is missing: the job runs again", name)
	}
}

// syncAfter is the default of Options.SyncAfter: repeating a shorter job costs less than
// waiting for the disk.
const syncAfter = time.Second

// commit seals and commits the directory of a job that has run. Its parts must have the given
// number of records. passes is the index of a pass, to which commit adds its states; of other jobs nil.
func (r *run) commit(job *runner.Job, records int64, passes *passIndex) error {
	if job.Step == step.Final {
		if err := jobdir.NameFinal(job.FS, job.Output); err != nil {
			return err
		}
	} else if r.Lines {
		if err := job.Method.WriteLines(job); err != nil {
			return err
		}
	}
	files, err := jobdir.SealAll(job.FS, job.Output)
	if err != nil {
		return err
	}
	r.size = 0
	for _, f := range files {
		r.size += f.Length
	}
	seal := &store.Seal{Game: r.data.Game, Job: job.Name, Files: files}
	if n := seal.Records(); n != uint64(records) && !(job.OnlyTable() && n == 0) {
		return &store.DamageError{Name: job.Output, Reason: fmt.Sprintf("%s made, but %s there", numfmt.Count(records, "record"), numfmt.Count(n, "record"))}
	}
	if passes != nil {
		passes.Runs = append(passes.Runs, stateRun{job.Name, statesIn(seal)})
		if seal.Passes, err = json.Marshal(passes); err != nil {
			return err
		}
	}
	if err := r.data.Commit(job.Output, seal); err != nil {
		return err
	}
	r.seals[job.Name] = seal
	return nil
}

// remove deletes a directory that no later job needs.
func (r *run) remove(name string) error {
	delete(r.damage, name)
	r.seals[name] = nil
	return r.data.Remove(name)
}

// CheckKept verifies the directories of all jobs of a game solved with --keep all.
func CheckKept(ctx context.Context, fsys store.FS, data string, g game.Game) error {
	r := newRun(&store.Data{FS: fsys, Path: data, Game: g.Spec(), Resumed: true}, g, Options{KeepAll: true})
	r.newNodes()
	for _, n := range r.nodes {
		err := r.look(ctx, n)
		if err == nil && !n.ended {
			_, err = jobdir.Check(ctx, fsys, path.Join(data, n.lacks), g.Spec())
			err = cmp.Or(err, n.fault)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wantsFinal reports whether the text of all positions must be written. It sets result.Final
// to whether the text will exist then.
func (r *run) wantsFinal(ctx context.Context) (bool, error) {
	seal, err := r.sealOf(ctx, FinalDir) // an earlier run may have written it
	if err != nil {
		return false, err
	}
	there := seal != nil
	wanted := !there && (r.Final == FinalYes || r.Final == FinalAuto && r.result.Positions <= FinalLimit)
	r.result.Final = there || wanted
	if err := r.damage[FinalDir]; err != nil && !wanted {
		r.reportDamage(FinalDir, "%v: it is removed", err)
		return false, r.remove(FinalDir)
	}
	return wanted, nil
}

// CheckFinal verifies the text of all positions in a data directory, if it exists.
func CheckFinal(ctx context.Context, fsys store.FS, data, game string) error {
	dir := path.Join(data, FinalDir)
	if _, err := fsys.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_, err := jobdir.Check(ctx, fsys, dir, game)
	return err
}
