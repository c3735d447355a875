package copies

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

const (
	dataDir  = "/data"
	stageDir = dataDir + "/_attempt-copy-0123456789"
	copyDir  = "/copy"
)

// A fake is a place in memory. Each of its commands takes a time, and copies or deletes one file after the other.
type fake struct {
	t    *testing.T
	here *storetest.Memory // the file system of the data directory
	to   *storetest.Memory

	took     time.Duration
	commands []string                  // that were run
	step     func(change string) error // called before each change; its error ends the command
}

func (f *fake) Name() string { return "fake://copy" }

// command begins a command.
func (f *fake) command(ctx context.Context, words ...string) error {
	f.commands = append(f.commands, strings.Join(words, " "))
	select {
	case <-ctx.Done():
	case <-time.After(f.took):
	}
	return ctx.Err()
}

func (f *fake) change(format string, args ...any) error {
	if f.step == nil {
		return nil
	}
	return f.step(fmt.Sprintf(format, args...))
}

func (f *fake) List(ctx context.Context) (map[string]int64, error) {
	files := make(map[string]int64)
	for name, text := range f.to.Files(copyDir) {
		files[name] = int64(len(text))
	}
	return files, f.command(ctx, "list")
}

func (f *fake) Read(ctx context.Context, names []string) (text []byte, err error) {
	for _, name := range names {
		one, err := store.ReadFile(f.to, path.Join(copyDir, name))
		if err != nil {
			return nil, err
		}
		text = append(text, one...)
	}
	return text, f.command(ctx, "read")
}

func (f *fake) Make(ctx context.Context) error {
	return errors.Join(f.command(ctx, "make"), f.to.MkdirAll(copyDir))
}

func (f *fake) Write(ctx context.Context, names, texts []string) error {
	if err := f.command(ctx, append([]string{"write"}, names...)...); err != nil {
		return err
	}
	if _, err := f.to.Stat(copyDir); err != nil {
		f.t.Errorf("write: %v", err)
	}
	for i, name := range names {
		if err := f.write(name, []byte(texts[i]), false); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Put writes a file in two parts, as DistCp may do.
func (f *fake) Put(ctx context.Context, names []string, bytes int64) error {
	if err := f.command(ctx, append([]string{"put"}, names...)...); err != nil {
		return err
	}
	for _, name := range names {
		text, err := store.ReadFile(f.here, path.Join(dataDir, name))
		if err != nil {
			f.t.Errorf("put: %v", err)
			return err
		}
		if err := f.write(name, text, true); err != nil {
			return err
		}
		bytes -= int64(len(text))
	}
	if bytes != 0 {
		f.t.Errorf("put: %d bytes more than the files have", bytes)
	}
	return ctx.Err()
}

// write writes a file of the copy.
func (f *fake) write(name string, text []byte, inParts bool) error {
	at := path.Join(copyDir, name)
	if err := errors.Join(f.to.MkdirAll(path.Dir(at)), f.change("put %s", name)); err != nil {
		return err
	}
	if inParts {
		must.OK(f.t, store.WriteFile(f.to, at, text[:len(text)/2]))
		if err := f.change("go on with %s", name); err != nil {
			return err
		}
	}
	return store.WriteFile(f.to, at, text)
}

func (f *fake) Remove(ctx context.Context, names []string) error {
	if err := f.command(ctx, append([]string{"remove"}, names...)...); err != nil {
		return err
	}
	for _, name := range names {
		for _, file := range sorted(f.to.Files(path.Join(copyDir, name))) {
			if err := f.change("remove %s", path.Join(name, file)); err != nil {
				return err
			}
			must.OK(f.t, f.to.RemoveAll(path.Join(copyDir, name, file)))
		}
		must.OK(f.t, f.to.RemoveAll(path.Join(copyDir, name)))
	}
	return nil
}

func (f *fake) Fetch(ctx context.Context, names []string, _ int64, to string) error {
	for _, name := range names {
		for _, file := range sorted(f.to.Files(path.Join(copyDir, name))) {
			text, err := store.ReadFile(f.to, path.Join(copyDir, name, file))
			must.OK(f.t, err)
			if err := f.change("fetch %s", path.Join(name, file)); err != nil {
				return err
			}
			at := path.Join(to, name, file)
			must.OK(f.t, errors.Join(f.here.MkdirAll(path.Dir(at)), store.WriteFile(f.here, at, text)))
		}
	}
	return f.command(ctx, append([]string{"fetch"}, names...)...)
}

// sorted returns the names of files.
func sorted(files map[string]string) (names []string) {
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A slow runner takes a time for each job.
type slow struct {
	inline.Runner
	took time.Duration
	jobs int
}

func (r *slow) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	r.jobs++
	select {
	case <-ctx.Done():
		return runner.Stats{}, ctx.Err()
	case <-time.After(r.took):
	}
	return r.Runner.Run(ctx, job)
}

// A driver solves a game, and keeps a copy.
type driver struct {
	*fake
	g      game.Game
	jobs   *slow
	keep   bool
	warned []string
}

// newDriver returns a driver on an empty cluster, whose copy is to.
func newDriver(t *testing.T, g game.Game, to *storetest.Memory) *driver {
	here := &storetest.Memory{HDFS: true}
	return &driver{fake: &fake{t: t, here: here, to: to, took: 3 * time.Second}, g: g, jobs: &slow{took: 7 * time.Second}}
}

// drive solves the game.
func (d *driver) drive(ctx context.Context, mode store.Mode) (err error) {
	c := New(ctx, d.fake, d.here, dataDir, stageDir, func(line string) { d.warned = append(d.warned, line) })
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Ready(d.g.Spec(), mode); err != nil {
		return err
	}
	data, err := store.Create(c.FS(), dataDir, d.g.Spec(), mode, solve.IsRunArtifact, nil)
	if err != nil {
		return err
	}
	defer data.Close()
	if err := c.Start(d.g.Spec(), mode); err != nil {
		return err
	}
	o := solve.Options{Runner: d.jobs, Reducers: 2, Final: solve.FinalYes, UntilTier: -1, KeepAll: d.keep}
	if _, err := solve.Run(ctx, data, d.g, o); err != nil {
		return err
	}
	return c.Finish()
}

// files returns the files of a directory that belong in a copy, except the journal.
func files(fsys *storetest.Memory, dir string) map[string]string {
	all := fsys.Files(dir)
	for name := range all {
		if top, _, _ := strings.Cut(name, "/"); !belongs(top) || name == store.JournalFile {
			delete(all, name)
		}
	}
	return all
}
