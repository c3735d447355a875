package solve_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// A schedule runs several drivers in one data directory, of which one at a time makes calls of the
// file system, in an order that the test chooses. A driver can be paused before each call, as a
// process that loses its lock while its machine is suspended, or killed, or one of its calls fails.
type schedule struct {
	setup
	fsys *storetest.Memory

	mu      sync.Mutex
	changed sync.Cond // signals changes of actors
	actors  []*actor
	jobs    map[string]*actor // on the cluster, by attempt
}

// A setup is what all drivers of a schedule have in common.
type setup struct {
	g       game.Game
	hdfs    bool
	cluster bool // jobs run on a cluster, and a new driver ends them
	change  func(*solve.Options)
	calls   int               // that a driver makes which is alone
	want    map[string]string // the files that it makes
}

func (u *setup) String() string {
	system := map[bool]string{false: "local", true: "HDFS"}[u.hdfs]
	if u.cluster {
		system += " with a cluster"
	}
	if u.change != nil {
		system += ", all kept"
	}
	return u.g.Spec() + ", " + system
}

// An actor is a driver, or a job on the cluster.
type actor struct {
	s      *schedule
	number int

	// The mutex of the schedule guards the following fields.

	left    int    // calls until it is paused
	running bool   // not paused, waiting or ended
	waiting *actor // the job that it waits for
	killed  bool
	ended   bool
	calls   int
	fault   fault
	failed  string // the first call that failed
	err     error
	stats   runner.Stats // of a job
}

// A fault is a call that fails.
type fault struct {
	call      int  // its number from 1; 0: none
	performed bool // it fails although it is performed
	ever      bool // all later calls fail as well
}

var (
	errInjected = errors.New("injected fault")
	errKilled   = errors.New("killed")
	errPanic    = errors.New("panic")
)

// start starts an actor, which is paused after some calls.
func (s *schedule) start(left int, f fault, run func(*actor) error) *actor {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &actor{s: s, number: len(s.actors), left: left, fault: f, running: true}
	s.actors = append(s.actors, a)
	go func() {
		err := recovered(func() error { return run(a) })
		s.mu.Lock()
		defer s.mu.Unlock()
		a.err, a.ended, a.running = err, true, false
		for _, b := range s.actors {
			if b.waiting == a {
				b.waiting, b.running = nil, true
			}
		}
		s.changed.Broadcast()
	}()
	return a
}

// recovered returns a panic as an error.
func recovered(run func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, r, debug.Stack())
		}
	}()
	return run()
}

// call implements storetest.Calls.
func (a *actor) call(what string, do func() error) error {
	s := a.s
	s.mu.Lock()
	for a.left == 0 && !a.killed {
		a.running = false
		s.changed.Broadcast()
		s.changed.Wait()
	}
	if a.killed {
		s.mu.Unlock()
		return errKilled
	}
	a.left--
	a.calls++
	f := a.fault
	fails := f.call > 0 && (a.calls == f.call || f.ever && a.calls > f.call)
	if fails && a.failed == "" {
		a.failed = what
	}
	s.mu.Unlock()
	if fails && !f.performed {
		return errInjected
	}
	err := do()
	if fails {
		return errInjected
	}
	return err
}

// fs returns the file system whose calls are those of an actor.
func (a *actor) fs() store.FS { return &storetest.Calls{Memory: a.s.fsys, Call: a.call} }

// resume lets an actor make some more calls, and waits until all actors are paused or have ended.
func (s *schedule) resume(a *actor, left int) {
	s.mu.Lock()
	a.left, a.running = left, true
	s.changed.Broadcast()
	s.mu.Unlock()
	s.settle()
}

// kill ends an actor: none of its calls is performed any more.
func (s *schedule) kill(a *actor) {
	s.mu.Lock()
	a.killed, a.running, a.waiting = true, true, nil
	s.changed.Broadcast()
	s.mu.Unlock()
	s.settle()
}

// settle waits until no actor is running.
func (s *schedule) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for slices.ContainsFunc(s.actors, func(a *actor) bool { return a.running }) {
		s.changed.Wait()
	}
}

// paused returns the actors that have been paused.
func (s *schedule) paused() (all []*actor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.actors {
		if !a.ended && !a.running && a.waiting == nil {
			all = append(all, a)
		}
	}
	return all
}

// ever is a number of calls that no actor makes.
const ever = 1 << 30

const scheduleDir = "/data/d"

// drive runs a driver, which is paused after some calls. It waits until no actor is running.
func (s *schedule) drive(mode store.Mode, left int, f fault) *actor {
	a := s.start(left, f, func(a *actor) error {
		o := options()
		o.MinDrop, o.SyncAfter = 1, 1
		if s.change != nil {
			s.change(&o)
		}
		if s.cluster {
			o.Runner = &onCluster{a: a}
		}
		data, err := store.Create(a.fs(), scheduleDir, s.g.Spec(), mode, solve.IsRunArtifact, func(attempt string) error { s.endJob(attempt); return nil })
		if err != nil {
			return err
		}
		_, err = solve.Run(context.Background(), data, s.g, o)
		return errors.Join(err, data.Close())
	})
	s.settle()
	return a
}

// onCluster is a runner of a driver whose jobs are further actors. They go on if it is killed.
type onCluster struct {
	inline.Runner
	a *actor
}

// endJob ends the job for an attempt on the cluster, if there is one that runs. Every other job goes on, as one
// does on a node that cannot be reached: its late writes must do no harm.
func (s *schedule) endJob(attempt string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if job := s.jobs[attempt]; job != nil && !job.ended && job.number%2 == 0 {
		job.killed, job.running = true, true
		s.changed.Broadcast()
	}
}

func (r *onCluster) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	if job.Step == step.Init || job.Step == step.Final {
		return r.Runner.Run(ctx, job)
	}
	if err := job.FS.RemoveAll(job.Output); err != nil {
		return runner.Stats{}, err
	}
	// Hadoop's client submits the job even if the driver is killed meanwhile.
	if err := r.a.call("submit", func() error { return nil }); err != nil && !errors.Is(err, errKilled) {
		return runner.Stats{}, err
	}
	s := r.a.s
	there := s.start(0, fault{}, func(a *actor) error {
		own, fsys := *job, a.fs()
		own.FS, own.Progress = fsys, func(runner.Progress) {}
		err := fsys.MkdirAll(own.Output)
		own.Inbox = slices.Clone(job.Inbox)
		for i, d := range own.Inbox { // opened by the driver, which may be paused
			if err == nil {
				own.Inbox[i], err = layers.OpenDir(fsys, d.(*layers.Dir).Path, s.g)
			}
		}
		if err == nil {
			a.stats, err = new(inline.Runner).Run(context.Background(), &own)
		}
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[job.Output] = there
	for !there.ended && !r.a.killed {
		r.a.waiting, r.a.running = there, false
		s.changed.Broadcast()
		s.changed.Wait()
	}
	if r.a.killed {
		return runner.Stats{}, errKilled
	}
	return there.stats, there.err
}

// newSchedule returns a schedule without actors.
func newSchedule(u setup) *schedule {
	s := &schedule{setup: u, fsys: &storetest.Memory{HDFS: u.hdfs}, jobs: make(map[string]*actor)}
	s.changed.L = &s.mu
	return s
}

// files returns what drivers have made, except the manifest and the journal, which contain times.
func (s *schedule) files() map[string]string {
	all := s.fsys.Files(scheduleDir)
	delete(all, store.ManifestFile)
	delete(all, store.JournalFile)
	return all
}

// clear reports whether the error of a driver describes what has happened to it.
func (a *actor) clear() bool {
	switch err := a.err; {
	case err == nil, errors.Is(err, store.ErrTakenOver), errors.Is(err, store.ErrBegun), errors.Is(err, store.ErrClearing):
		return true
	case errors.Is(err, errPanic):
		return false
	default:
		return a.killed || errors.Is(err, errInjected) || strings.Contains(err.Error(), "nothing to resume")
	}
}

// finish lets all actors end, one after the other.
func (s *schedule) finish() {
	for all := s.paused(); len(all) > 0; all = s.paused() {
		s.resume(all[0], ever)
	}
}

// end lets all actors end, and runs another driver, which must have the right result. It returns
// errors that are not clear, and what is wrong with the result.
func (s *schedule) end() (raw, wrong []string) {
	s.finish()
	drivers := slices.Clone(s.actors)
	for _, mode := range []store.Mode{store.Resume, store.Overwrite, store.Fresh} {
		last := s.drive(mode, ever, fault{})
		s.finish()
		if last.err == nil {
			break
		}
		if nothing := mode == store.Resume && (errors.Is(last.err, store.ErrClearing) || strings.Contains(last.err.Error(), "nothing to resume")); !nothing {
			wrong = append(wrong, fmt.Sprintf("the last driver, mode %d: %v", mode, last.err))
		}
	}
	for _, a := range drivers {
		if !a.isJob() && !a.clear() {
			raw = append(raw, fmt.Sprintf("driver %d: %v", a.number, a.err))
		}
	}
	return raw, append(wrong, storetest.Differences(s.files(), s.want)...)
}

// isJob reports whether an actor is a job on the cluster.
func (a *actor) isJob() bool {
	for _, job := range a.s.jobs {
		if job == a {
			return true
		}
	}
	return false
}

// setups returns the games and options of schedules.
func setups(t *testing.T) (all []*setup) {
	t.Helper()
	kept := func(o *solve.Options) { o.KeepAll, o.Lines, o.Reducers = true, true, 2 }
	for _, hdfs := range []bool{false, true} {
		for _, u := range []setup{
			{g: rules(t, 2, 2, 2)}, {g: rules(t, 2, 2, 2), change: kept}, {g: rules(t, 2, 2, 2), cluster: true},
			{g: quickCross(t, 1, 2, 2)}, {g: quickCross(t, 1, 2, 2), change: kept}, {g: quickCross(t, 1, 2, 2), cluster: true},
			{g: listGame(t)}, {g: listGame(t), change: kept},
			{g: passGame()}, {g: passGame(), change: kept}, {g: passGame(), cluster: true},
		} {
			u.hdfs = hdfs
			s := newSchedule(u)
			a := s.drive(store.Fresh, ever, fault{})
			s.finish()
			if a.err != nil {
				t.Fatalf("%s: %v", u.g.Spec(), a.err)
			}
			u.calls, u.want = a.calls, s.files()
			all = append(all, &u)
		}
	}
	return all
}

// listGame returns a small game that is solved by lists.
func listGame(t *testing.T) game.Game {
	t.Helper()
	return must.Get(mnk.New(2, 2, 2))(t)
}

// passGame returns a small game with stored edges, passes in two tiers, and ties.
func passGame() game.Game {
	return struct{ game.Tiered }{tieredGraph{testgames.Graph{
		Next: map[game.Position][]game.Position{0: {1, 2}, 1: {0, 3}, 2: {3, 4}, 3: {2}},
		End:  map[game.Position]game.Result{4: game.Ties},
		Size: 5,
	}}}
}

// A scheduleKind runs drivers, of which the first is paused at a call, or the call fails.
type scheduleKind struct {
	name string
	run  func(s *schedule, call int, rnd *rand.Rand)
}

// scheduleKinds lists the kinds of schedules. The last three choose at random.
var scheduleKinds = []scheduleKind{
	{"a call fails", func(s *schedule, call int, _ *rand.Rand) { s.drive(store.Fresh, ever, fault{call: call}) }},
	{"a call fails, although performed", func(s *schedule, call int, _ *rand.Rand) {
		s.drive(store.Fresh, ever, fault{call: call, performed: true})
	}},
	{"all calls fail from one on", func(s *schedule, call int, _ *rand.Rand) { s.drive(store.Fresh, ever, fault{call: call, ever: true}) }},
	{"two drivers, a pause", func(s *schedule, call int, _ *rand.Rand) {
		s.drive(store.Fresh, call, fault{})
		second := s.drive(store.Resume, ever, fault{})
		for !second.ended { // a job on the cluster goes on
			s.resume(s.paused()[len(s.paused())-1], ever)
		}
	}},
	{"two drivers, pauses", func(s *schedule, _ int, rnd *rand.Rand) { s.walk(2, false, rnd) }},
	{"three drivers, pauses", func(s *schedule, _ int, rnd *rand.Rand) { s.walk(3, false, rnd) }},
	{"three drivers, pauses and a failed call", func(s *schedule, _ int, rnd *rand.Rand) { s.walk(3, true, rnd) }},
}

// walk pauses, resumes and kills drivers at random.
func (s *schedule) walk(drivers int, fails bool, rnd *rand.Rand) {
	left := func() int {
		switch rnd.IntN(4) {
		case 0:
			return ever
		case 1:
			return 1 + rnd.IntN(12)
		}
		return 1 + rnd.IntN(s.calls)
	}
	begun, failing := 0, rnd.IntN(drivers)
	for all := s.paused(); begun < drivers || len(all) > 0; all = s.paused() {
		pick := rnd.IntN(len(all) + 1)
		switch {
		case pick < len(all) && !all[pick].isJob() && rnd.IntN(8) == 0:
			s.kill(all[pick])
		case pick < len(all):
			s.resume(all[pick], left())
		case begun < drivers:
			mode, f := store.Fresh, fault{}
			if begun > 0 {
				mode = []store.Mode{store.Resume, store.Resume, store.Resume, store.Resume, store.Overwrite, store.Fresh}[rnd.IntN(6)]
			}
			if fails && begun == failing {
				f = fault{call: 1 + rnd.IntN(s.calls), performed: rnd.IntN(2) == 0, ever: rnd.IntN(4) == 0}
			}
			s.drive(mode, left(), f)
			begun++
		}
	}
}

// TestSchedules runs some schedules of each kind.
func TestSchedules(t *testing.T) { schedules(t, 300) }

// TestLongSchedules runs each schedule with one failed call or one pause, and random ones. 290,000
// are enough for every call.
func TestLongSchedules(t *testing.T) {
	longtest.Skip(t)
	schedules(t, longtest.Number(t, "TREEREDUCE_SCHEDULES", 5000))
}

// schedules runs n schedules of all kinds and setups in turn. TREEREDUCE_SEED repeats those of a run,
// TREEREDUCE_FIRST begins with another one than the first.
func schedules(t *testing.T, n int) {
	seed := longtest.Number(t, "TREEREDUCE_SEED", int(time.Now().Unix()))
	first := longtest.Number(t, "TREEREDUCE_FIRST", 0)
	t.Logf("TREEREDUCE_SEED=%d TREEREDUCE_FIRST=%d", seed, first)
	us := setups(t)
	var all scheduleCounts
	byKind := make([]scheduleCounts, len(scheduleKinds))
	for i := first; i < n; i++ {
		rnd := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
		u := us[i%len(us)]
		k, call := i/len(us)%len(scheduleKinds), i/len(us)/len(scheduleKinds)+1
		if n/len(us)/len(scheduleKinds) < u.calls { // too few for every call
			call = 1 + rnd.IntN(u.calls)
		}
		if call > u.calls {
			k = len(scheduleKinds) - 1 - rnd.IntN(3)
		}
		s := newSchedule(*u)
		scheduleKinds[k].run(s, call, rnd)
		raw, wrong := s.end()
		c := s.counts(len(raw) > 0, len(wrong) > 0)
		byKind[k].add(c)
		all.add(c)
		if len(raw)+len(wrong) > 0 {
			t.Errorf("schedule %d of %s, %s at %d: %s", i, u, scheduleKinds[k].name, call, strings.Join(append(raw, wrong...), "; "))
			for _, a := range s.actors {
				t.Logf("  %d: job %v, killed %v, %d calls, failed %q: %v", a.number, a.isJob(), a.killed, a.calls, a.failed, a.err)
			}
		}
		if (i+1)%10_000 == 0 || i+1 == n {
			for k, c := range byKind {
				t.Logf("%s: %s", scheduleKinds[k].name, c)
			}
			t.Logf("all: %s", all)
		}
	}
}

// scheduleCounts are the numbers of schedules, their actors and what happened to them.
type scheduleCounts struct{ schedules, drivers, jobs, faults, takenOver, killed, wrong, raw int }

func (c scheduleCounts) String() string {
	return fmt.Sprintf("%d schedules, %d drivers, %d jobs on a cluster, %d faults, %d taken over, %d killed, wrong: %d, raw errors: %d",
		c.schedules, c.drivers, c.jobs, c.faults, c.takenOver, c.killed, c.wrong, c.raw)
}

func (c *scheduleCounts) add(d scheduleCounts) {
	c.schedules += d.schedules
	c.drivers += d.drivers
	c.jobs += d.jobs
	c.faults += d.faults
	c.takenOver += d.takenOver
	c.killed += d.killed
	c.wrong += d.wrong
	c.raw += d.raw
}

// counts returns the counts of one schedule.
func (s *schedule) counts(raw, wrong bool) scheduleCounts {
	one := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	c := scheduleCounts{schedules: 1, raw: one(raw), wrong: one(wrong)}
	for _, a := range s.actors {
		c.add(scheduleCounts{drivers: one(!a.isJob()), jobs: one(a.isJob()), faults: one(a.failed != ""),
			takenOver: one(errors.Is(a.err, store.ErrTakenOver)), killed: one(a.killed)})
	}
	return c
}
