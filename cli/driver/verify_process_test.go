//go:build linux && !race

package driver_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/programs"
	"github.com/treereduce/treereduce/table"
)

// changeTier rewrites a tier of a table: change may modify each of its blocks. The checksums are right.
func changeTier(t *testing.T, dir string, whole game.Blockwise, tier int, change func(*block.Block)) {
	t.Helper()
	g := mirror.HalfOf(whole)
	name := filepath.Join(dir, table.TierFile(tier))
	in := must.Get(blocks.OpenTier(store.Local{}, name, g, tier))(t)
	out := must.Get(os.Create(name + ".new"))(t)
	w := blocks.NewWriter(out, g, tier)
	c := in.Cursor(0)
	for e, err := range in.Entries() {
		must.OK(t, err)
		b := new(block.Block)
		must.Get(c.Load(b, e.First))(t)
		change(b)
		must.OK(t, w.Add(b))
	}
	must.OK(t, errors.Join(w.Finish(nil), in.Close(), os.Rename(name+".new", name), table.Seal(store.Local{}, dir, g.Spec())))
}

// verify runs driver verify on a damaged table, and returns its one line.
func verify(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	cmd := exec.Command("driver", append([]string{"verify", "--data", dir}, flags...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	text := stderr.String()
	if code := cmd.ProcessState.ExitCode(); code != 1 || stdout.Len() > 0 || strings.Count(text, "\n") != 1 {
		t.Errorf("verify %v: %v, stdout %q, stderr %q; want exit status 1 and one line", flags, err, stdout.String(), text)
	}
	return strings.TrimSuffix(strings.TrimPrefix(text, "driver: verify: "), "\n")
}

// TestVerifyFault checks the output for tables with wrong values. A sample finds a fault that affects many
// positions, and finds it again with the same seed.
func TestVerifyFault(t *testing.T) {
	t.Parallel()
	dir, g := filepath.Join(t.TempDir(), "d"), must.Get(connectn.New(4, 5, 3))(t)
	drive(t, board, dir, "--final=no")
	changeTier(t, dir, g, 12, func(b *block.Block) {
		for _, slot := range b.Done.Append(nil) {
			b.Val[slot] ^= 1 << 3
		}
	})
	got := verify(t, dir, "--rules", "2000")
	match := regexp.MustCompile(`^tier 1[12]: .* \(seed (\d+)\)$`).FindStringSubmatch(got)
	if match == nil {
		t.Fatalf("%q names no position of tier 11 or 12 and no seed", got)
	}
	if again := verify(t, dir, "--seed", match[1], "--rules", "2000"); again != got {
		t.Errorf("%q, then %q", got, again)
	}
	drive(t, board, dir, "--final=no", "--overwrite")
	changeTier(t, dir, g, 0, func(b *block.Block) { b.Val[0] = byte(game.NewValue(game.FirstWins, 9)) })
	for _, flags := range [][]string{nil, {"--rules"}} {
		if got, want := verify(t, dir, flags...), "tier 0: '                    ' (0x0): expected X wins in 11, as its moves lead to, found X wins in 9"; got != want {
			t.Errorf("%v: %q, want %q", flags, got, want)
		}
	}
}

// TestVerifyInterrupted checks that Ctrl-C ends both checks with exit status 130.
func TestVerifyInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	dir := filepath.Join(t.TempDir(), "d")
	drive(t, strings.Fields("solve connectn --width 5 --height 4 --connect 4 --final no"), dir)
	for _, flags := range [][]string{nil, {"--rules"}} {
		cmd := exec.Command("driver", append([]string{"verify", "--data", dir}, flags...)...)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		programs.Start(t, cmd)
		waitOpen(t, cmd.Process.Pid, table.TierFile(20))
		must.OK(t, cmd.Process.Signal(syscall.SIGINT))
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 130 || out.String() != "driver: stopped\n" {
			t.Errorf("%v: exit status %d, %q", flags, code, out.String())
		}
	}
}

// waitOpen waits until a process has opened a file.
func waitOpen(t *testing.T, pid int, name string) {
	t.Helper()
	for {
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil || len(links) == 0 {
			t.Fatalf("it has ended, or opens nothing: %v", err)
		}
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil && strings.HasSuffix(to, name) {
				return
			}
		}
	}
}
