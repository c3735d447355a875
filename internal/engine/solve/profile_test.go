package solve_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	games "github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// profileParts are the parts of a solve, each with the functions that belong to it. A sample
// belongs to the part of the function nearest to the top of its stack that is in this list.
var profileParts = []struct {
	name      string
	functions []string
}{
	{"checksum", []string{"hash/crc32."}},
	{"sync", []string{"store.Local.Sync"}},
	{"write", []string{"os.(*File).Write", "store.Local."}},
	{"read", []string{"os.(*File).ReadAt", "streamfmt.(*window)."}},
	{"finish", []string{"step.possible.finish"}},
	{"map", []string{").Map", "step.possible.Map"}},
	{"reduce", []string{").Reduce", "step.possible.Reduce"}},
	{"decode", []string{"streamfmt.(*Decoder).", "jobdir.(*TierCursor)."}},
	{"encode", []string{"streamfmt.(*Encoder).", "jobdir.(*Chunk)."}},
}

// BenchmarkProfile reports the seconds of CPU that the parts of a solve take.
func BenchmarkProfile(b *testing.B) {
	for _, spec := range []string{"connectn width=5 height=5 connect=4", "connectn width=6 height=5 connect=4"} {
		b.Run(spec, func(b *testing.B) {
			if strings.Contains(spec, "width=6") {
				longtest.Skip(b)
			}
			g := must.Get(games.Kinds().Parse(spec))(b)
			name := filepath.Join(b.TempDir(), "profile")
			out := must.Get(os.Create(name))(b)
			must.OK(b, pprof.StartCPUProfile(out))
			solveOn(b, store.Local{}, g, 0)
			pprof.StopCPUProfile()
			must.OK(b, out.Close())
			traces := must.Get(exec.Command("go", "tool", "pprof", "-unit=ms", "-traces", name).Output())(b)
			b.ReportMetric(0, "ns/op")
			for part, seconds := range partSeconds(b, string(traces)) {
				b.ReportMetric(seconds, part+"-s")
			}
		})
	}
}

// partSeconds adds the samples of each part, and of all together. In the output of pprof
// -traces, a line of hyphens precedes each stack. The first line of a stack begins with its time.
func partSeconds(b *testing.B, traces string) map[string]float64 {
	seconds := map[string]float64{"all": 0}
	for _, part := range profileParts {
		seconds[part.name] = 0
	}
	for i, stack := range strings.Split(traces, "-----------+-------------------------------------------------------\n") {
		fields := strings.Fields(stack)
		if i == 0 || len(fields) == 0 {
			continue // the head
		}
		d := must.Get(time.ParseDuration(fields[0]))(b)
		seconds["all"] += d.Seconds()
		seconds[partOf(fields[1:])] += d.Seconds()
	}
	return seconds
}

// partOf returns the part of a stack, whose top comes first.
func partOf(stack []string) string {
	for _, function := range stack {
		for _, part := range profileParts {
			for _, f := range part.functions {
				if strings.Contains(function, f) {
					return part.name
				}
			}
		}
	}
	return "other"
}
