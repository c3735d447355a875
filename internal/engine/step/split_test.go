package step

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestReadSplits checks that a mapper reads all splits of its lines, however long these are, and that the error for
// an invalid split names its line and has its text.
func TestReadSplits(t *testing.T) {
	var want []Split
	for i := range 10_000 {
		want = append(want, Split{File: fmt.Sprintf("data/part-%05d.pack", i), From: uint64(i), To: math.MaxUint64})
	}
	splits, err := readSplits(strings.NewReader(SplitsLine(want[:1])+SplitsLine(want[1:])), "in")
	if err != nil || !slices.Equal(splits, want) {
		t.Errorf("%d splits, %v, want %d", len(splits), err, len(want))
	}
	splits, err = readSplits(strings.NewReader(SplitsLine(want[:2])+strings.TrimSuffix(SplitsLine(want[2:3]), "\n")+"\tx\t1g\n"), "in")
	if err == nil || !strings.HasPrefix(err.Error(), "in:2: expected an input split") || !strings.HasSuffix(err.Error(), `found "x\t1g"`) || len(splits) != 3 {
		t.Errorf("%d splits, %v", len(splits), err)
	}
}

// FuzzSplits checks that splits that were read are written as a line of the same splits.
func FuzzSplits(f *testing.F) {
	f.Add("data/part-00000.pack\t0\tff")
	f.Add("a\t0\t1\tb\t2\t3\nc\t4\t5\n")
	f.Add("\t\t")
	f.Fuzz(func(t *testing.T, text string) {
		splits, err := readSplits(strings.NewReader(text), "in")
		if err != nil || len(splits) == 0 {
			return
		}
		if again, err := readSplits(strings.NewReader(SplitsLine(splits)), "in"); err != nil || !slices.Equal(again, splits) {
			t.Errorf("%q: %+v, then %+v, %v", text, splits, again, err)
		}
	})
}
