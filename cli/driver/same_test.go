//go:build linux && !race

package driver_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// The games of these tests, one for each method: the smallest whose keys fall into several
// ranges; for games without ranges, those with a thousand rows in a tier, with moves that
// skip many tiers, or with tiers of which some have inner moves.
var (
	board       = strings.Fields("solve connectn --width 4 --height 5 --connect 3")
	smallCyclic = strings.Fields("solve quickcross --width 3 --height 3 --connect 3")
	cyclic      = strings.Fields("solve quickcross --width 4 --height 3 --connect 3")
	smallCars   = strings.Fields("solve dodgem --size 2")
	cars        = strings.Fields("solve dodgem --size 3")
	rules       = strings.Fields("solve mnk --width 3 --height 3 --connect 3")
	larger      = strings.Fields("solve mnk --width 4 --height 3 --connect 3")
	far         = strings.Fields("solve mancala --pits 2 --stones 1")
	mills       = strings.Fields("solve mills --men 3")
)

// onData returns the command driver solve on a data directory, in its own process group.
func onData(board []string, dir string, flags ...string) *exec.Cmd {
	cmd := exec.Command("driver", slices.Concat(board, []string{"--data", dir}, flags)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// drive runs driver solve to its end.
func drive(t *testing.T, board []string, dir string, flags ...string) {
	t.Helper()
	process.Output(t, onData(board, dir, flags...))
}

// same checks what must not depend on the way of solving: the text of final, and the table.
func same(t *testing.T, dir, want string) {
	t.Helper()
	must.Get(os.Stat(filepath.Join(want, "final", store.Success)))(t)
	solved.SameText(t, store.Local{}, dir, want)
}

// TestSameResult solves the same game in many ways and checks that the result is the same: with
// both runners, several numbers of reducers, with and without combiner and compression, and
// started with one runner and resumed with another.
func TestSameResult(t *testing.T) {
	t.Parallel()
	ways := []way{
		inlineWay("3", "--keep=all --compress"),
		{{"--runner=inline", "--reducers=7", "--until-tier=20"}, {"--runner=pipe", "--resume", "--reducers=2"}},
		{{"--runner=pipe", "--keep=all", "--reducers=3", "--combine=false", "--until-tier=9"}, {"--runner=inline", "--resume", "--reducers=7"}},
		{{"--memory=64M"}},
	}
	t.Run("connectn", func(t *testing.T) { sameResult(t, board, ways) })
	t.Run("quickcross", func(t *testing.T) { sameResult(t, cyclic, ways[:3]) })
	t.Run("small dodgem", func(t *testing.T) { sameResult(t, smallCars, ways[:3]) })
	t.Run("dodgem", func(t *testing.T) { sameResult(t, cars, ways[:1]) })
	t.Run("mnk", func(t *testing.T) { sameResult(t, rules, ways) })
	t.Run("mills", func(t *testing.T) { sameResult(t, mills, ways[:1]) })
}

// TestLongSameResult tests all combinations.
func TestLongSameResult(t *testing.T) {
	longtest.Skip(t)
	var ways []way
	for _, reducers := range []string{"1", "2", "7"} {
		for _, keep := range []string{"--keep=all", "--keep=all --compress", "--keep=final"} {
			ways = append(ways, inlineWay(reducers, keep))
			for _, combine := range []string{"--combine", "--combine=false"} {
				ways = append(ways, pipeWay(reducers, combine, keep))
			}
		}
	}
	t.Run("connectn", func(t *testing.T) { sameResult(t, board, ways) })
	t.Run("quickcross", func(t *testing.T) { sameResult(t, cyclic, ways) })
	t.Run("dodgem", func(t *testing.T) { sameResult(t, smallCars, ways) })
	t.Run("mnk", func(t *testing.T) { sameResult(t, larger, ways) })
	t.Run("mancala", func(t *testing.T) { sameResult(t, far, ways) })
	t.Run("mills", func(t *testing.T) { sameResult(t, mills, ways) })
}

// A way to solve consists of the flags of consecutive runs.
type way [][]string

func inlineWay(reducers, keep string) way {
	return way{strings.Fields("--runner inline --reducers " + reducers + " " + keep)}
}

func pipeWay(reducers, combine, keep string) way {
	return way{strings.Fields("--runner pipe --reducers " + reducers + " " + combine + " " + keep)}
}

func sameResult(t *testing.T, board []string, ways []way) {
	plain := filepath.Join(t.TempDir(), "plain")
	drive(t, board, plain)
	for _, runs := range ways {
		t.Run(strings.ReplaceAll(fmt.Sprint(runs), "--", ""), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "d")
			for _, flags := range runs {
				drive(t, board, dir, flags...)
			}
			same(t, dir, plain)
		})
	}
}

// snapshot returns the inode, size and time of every file in complete directories, to detect
// changes.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	whole := make(map[string]string)
	for _, mark := range must.Get(filepath.Glob(filepath.Join(dir, "*", "_SUCCESS")))(t) {
		if strings.HasPrefix(filepath.Base(filepath.Dir(mark)), "_") {
			continue // an attempt, not yet renamed
		}
		for _, f := range must.Get(filepath.Glob(filepath.Join(filepath.Dir(mark), "*")))(t) {
			if f == mark {
				continue // it is rewritten when states that are no longer needed are deleted
			}
			info := must.Get(os.Stat(f))(t)
			whole[f] = fmt.Sprint(info.Sys().(*syscall.Stat_t).Ino, info.Size(), info.ModTime())
		}
	}
	return whole
}

// TestKilled kills the driver by SIGKILL at random times, and resumes it, with either runner.
// In the end the result is the same, and no directory with a _SUCCESS was rebuilt.
func TestKilled(t *testing.T) {
	t.Parallel()
	ways := []string{"--keep=final --runner=inline", "--keep=all --compress --runner=both"}
	t.Run("connectn", func(t *testing.T) { killed(t, board, ways) })
	t.Run("quickcross", func(t *testing.T) { killed(t, cyclic, ways) })
	t.Run("mnk", func(t *testing.T) { killed(t, rules, ways) })
}

// TestLongKilled tests other ways to solve.
func TestLongKilled(t *testing.T) {
	longtest.Skip(t)
	ways := []string{"--keep=all --runner=inline --reducers=7", "--keep=final --runner=pipe --reducers=2 --combine=false"}
	t.Run("connectn", func(t *testing.T) { killed(t, board, ways) })
	t.Run("quickcross", func(t *testing.T) { killed(t, cyclic, ways) })
	t.Run("mnk", func(t *testing.T) { killed(t, rules, ways) })
	t.Run("mills", func(t *testing.T) { killed(t, mills, ways) })
}

func killed(t *testing.T, board, ways []string) {
	plain := filepath.Join(t.TempDir(), "plain")
	began := time.Now()
	drive(t, board, plain, "--keep=all")
	took := time.Since(began)
	for _, flags := range ways {
		t.Run(strings.ReplaceAll(flags, "--", ""), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(len(flags))))
			dir := filepath.Join(t.TempDir(), "d")
			longest, kills := took, 0
			if strings.Contains(flags, "pipe") {
				longest *= 10
			}
			for try := 0; ; try++ {
				words := strings.Fields(strings.Replace(flags, "=both", "="+[]string{"inline", "pipe"}[try%2], 1))
				if _, err := os.Stat(filepath.Join(dir, "treereduce.json")); err == nil {
					words = append(words, "--resume")
				}
				before := snapshot(t, dir)
				cmd := onData(board, dir, words...)
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				must.OK(t, cmd.Start())
				// Short lifetimes first, so that many tries are killed; then longer ones, so
				// that the run finishes.
				life := time.Duration(rng.Int64N(int64(longest))) * time.Duration(1+try) / 10
				timer := time.AfterFunc(life, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
				err := cmd.Wait()
				timer.Stop()
				for name, was := range before {
					info, err := os.Stat(name)
					if errors.Is(err, fs.ErrNotExist) && strings.Contains(flags, "keep=final") {
						continue // no longer needed
					}
					if err != nil {
						t.Fatalf("try %d: %v", try, err)
					}
					if is := fmt.Sprint(info.Sys().(*syscall.Stat_t).Ino, info.Size(), info.ModTime()); is != was {
						t.Errorf("try %d: %s was complete, and was rebuilt", try, name)
					}
				}
				if err == nil && kills > 0 {
					break
				}
				if err == nil { // on a busy machine the time is too long: from the beginning, with shorter ones
					must.OK(t, os.RemoveAll(dir))
					longest = max(longest/4, 1)
					continue
				}
				if cmd.ProcessState.ExitCode() != -1 {
					t.Fatalf("try %d: %v\n%s", try, err, out.String())
				}
				kills++
			}
			same(t, dir, plain)
			t.Logf("%d kills", kills)
		})
	}
}

// TestInterrupted stops the driver with Ctrl-C: exit status 130, and a message how to resume.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ flags, whole string }{
		{"connectn --width 6 --height 5 --connect 4 --runner inline", "data_first3"},
		{"connectn --width 6 --height 5 --connect 4 --runner pipe", "data_first3"},
		{"quickcross --width 4 --height 4 --runner inline --keep all", "data_first0.5"},
		{"quickcross --width 4 --height 4 --runner pipe --keep all", "data_first0.3"},
	} {
		t.Run(test.flags, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			cmd := exec.Command("driver", strings.Fields("solve "+test.flags+" --data "+dir)...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			var out bytes.Buffer
			cmd.Stderr = &out
			programs.Start(t, cmd)
			programs.WaitFor(t, filepath.Join(dir, test.whole, "_SUCCESS"))
			syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // a terminal sends it to the process group
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(out.String(), "--resume continues") {
				t.Errorf("%s: exit status %d, %q", test.flags, code, out.String())
			}
		})
	}
}
