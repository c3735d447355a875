package solve

import (
	"fmt"
	"strings"
	"testing"
)

// tiersOf writes the numbers of the tiers that are set.
func tiersOf(set []bool) string {
	var tiers []string
	for tier, ok := range set {
		if ok {
			tiers = append(tiers, fmt.Sprint(tier))
		}
	}
	return strings.Join(tiers, " ")
}

// A directory is written as its tier, followed by "-" if its shards are missing, and by ">" and
// the digits of the tiers that its messages are for; "!" if they have been deleted: "2>34!".
func parseDirs(t *testing.T, text string) func(int) *output {
	dirs := make(map[int]*output)
	for _, f := range strings.Fields(text) {
		o := &output{shards: true}
		f, o.dropped = strings.CutSuffix(f, "!")
		f, to, _ := strings.Cut(f, ">")
		for _, digit := range to {
			o.receivers = append(o.receivers, int(digit-'0'))
		}
		if number, ok := strings.CutSuffix(f, "-"); ok {
			f, o.shards = number, false
		}
		var tier int
		if _, err := fmt.Sscan(f, &tier); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		dirs[tier] = o
	}
	return func(tier int) *output { return dirs[tier] }
}

// TestToRun checks which jobs of a game with five tiers run.
func TestToRun(t *testing.T) {
	const all = "0 1 2 3 4"
	for _, test := range []struct {
		name           string
		plan           func(tierState) (first, second []bool)
		tabled         string // tiers in the table
		firsts, second string // complete directories
		until          int    // -1: solve
		keepAll        bool
		want           string // the tiers of data_first to run, "/", those of data_second
	}{
		{"blocks: nothing is there", blocksToRun, "", "", "", -1, false, "0 1 2 3 4/0 1 2 3"},
		{"blocks: the forward pass was interrupted", blocksToRun, "", "0 1 2", "", -1, false, "3 4/0 1 2 3"},
		{"blocks: between the passes", blocksToRun, "", all, "", -1, false, "4/0 1 2 3"},
		{"blocks: a tier in the middle is damaged", blocksToRun, "", "0 1 3 4", "", -1, false, "2 4/0 1 2 3"},
		{"blocks: the retrograde pass was interrupted", blocksToRun, "2 3 4", "0 1 2", "3 2", -1, false, "/0 1"},
		{"blocks: a tier is in the table, its directory is gone", blocksToRun, "3 4", "0 1 2", "", -1, false, "/0 1 2"},
		{"blocks: a tier of the table is damaged", blocksToRun, "0 1 3 4", "", "", -1, false, "0 1 2/2"},
		{"blocks: the last tier of the table is damaged", blocksToRun, "0 1 2 3", "0 1", "", -1, false, "2 3 4/"},
		{"blocks: the table is complete", blocksToRun, all, "", "", -1, false, "/"},
		{"blocks: all directories are wanted, one is damaged", blocksToRun, all, "0 1 3 4", "0 1 3", -1, true, "2/2"},
		{"blocks: until tier 2", blocksToRun, "", "0", "", 2, false, "1 2/"},
		{"blocks: until tier 2, the table is complete", blocksToRun, all, "", "", 2, false, "/"},
		{"blocks: until tier 2, its table is damaged", blocksToRun, "0 1 3 4", "", "", 2, false, "0 1 2/"},

		{"layers: nothing is there", layersToRun, "", "", "", -1, false, "0 1 2 3 4/0 1 2 3 4"},
		{"layers: the forward pass was interrupted", layersToRun, "", "0>12 1>2 2>34", "", -1, false, "3 4/0 1 2 3 4"},
		{"layers: messages that were read are deleted", layersToRun, "", "0>12! 1>2! 2>34", "", -1, false, "3 4/0 1 2 3 4"},
		{"layers: deleted messages are needed again", layersToRun, "", "0>12! 1>3 3>4 4", "", -1, false, "0 2/0 1 2 3 4"},
		{"layers: a missing tier may have sent messages", layersToRun, "", "0>1 2>3 3>4", "", -1, false, "1 4/0 1 2 3 4"},
		{"layers: the retrograde pass was interrupted", layersToRun, "4", "0>1! 1>2! 2>3! 3>4!", "4>3", -1, false, "/0 1 2 3"},
		{"layers: the values are there, not in the table", layersToRun, "", "0>1! 1>2! 2>3! 3>4!", "4>3 3>2", -1, false, "0 1 2 3 4/0 1 2 3 4"},
		{"layers: the shards of values were deleted", layersToRun, "4", "0>1! 1>2! 2>3! 3>4!", "4->3! 3->2!", -1, false, "0 1 2 3 4/0 1 2 3 4"},
		{"layers: the table is complete", layersToRun, all, "", "", -1, false, "/"},
		{"layers: a tier of the table is damaged", layersToRun, "0 1 3 4", "", "", -1, false, "0 1 2 3 4/2 3 4"},
		{"layers: a tier of the table is damaged, its messages are there", layersToRun, "0 1 3 4", "2", "4 3>2", -1, false, "/2"},
		{"layers: all directories are wanted", layersToRun, all, "0>1 1>2 2>3 3>4 4", "4>3 3>2 1>0 0", -1, true, "/2"},
		{"layers: until tier 2", layersToRun, "", "0>1", "", 2, false, "1 2/"},
		{"layers: receivers out of range", layersToRun, all, "0>9!", "1>9!", -1, false, "/"},
	} {
		s := tierState{tabled: make([]bool, 5), until: test.until, stop: test.until >= 0, keepAll: test.keepAll,
			first: parseDirs(t, test.firsts), second: parseDirs(t, test.second)}
		if !s.stop {
			s.until = 4
		}
		tabled := parseDirs(t, test.tabled)
		for tier := range s.tabled {
			s.tabled[tier] = tabled(tier) != nil
		}
		first, second := test.plan(s)
		if got := tiersOf(first) + "/" + tiersOf(second); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
