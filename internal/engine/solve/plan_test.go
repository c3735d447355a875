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
// the digits of the tiers that its messages are for; "!" if they have been deleted: "2>34!". One that is not written is
// missing, and may have been for any tier; by blocks, for the next one in the forward pass.
func parseDirs(t *testing.T, text string, blocks, forward bool) (all []*output) {
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
	for tier := range 5 {
		o := dirs[tier]
		if o == nil {
			o = new(output)
			switch {
			case !blocks:
				o = &output{dropped: true, receivers: []int{0, 1, 2, 3, 4}}
			case forward:
				o = &output{dropped: true, receivers: []int{tier + 1}}
			}
		}
		all = append(all, o)
	}
	return all
}

// TestToRun checks which jobs of a game with five tiers run.
func TestToRun(t *testing.T) {
	const all = "0 1 2 3 4"
	for _, test := range []struct {
		name           string
		blocks         bool
		tabled         string // tiers in the table
		firsts, second string // complete directories
		until          int    // -1: solve
		keepAll        bool
		want           string // the tiers of data_first to run, "/", those of data_second
	}{
		{"blocks: nothing is there", true, "", "", "", -1, false, "0 1 2 3 4/0 1 2 3"},
		{"blocks: the forward pass was interrupted", true, "", "0 1 2", "", -1, false, "3 4/0 1 2 3"},
		{"blocks: between the passes", true, "", all, "", -1, false, "4/0 1 2 3"},
		{"blocks: a tier in the middle is damaged", true, "", "0 1 3 4", "", -1, false, "2 4/0 1 2 3"},
		{"blocks: the retrograde pass was interrupted", true, "2 3 4", "0 1 2", "3 2", -1, false, "/0 1"},
		{"blocks: a tier is in the table, its directory is gone", true, "3 4", "0 1 2", "", -1, false, "/0 1 2"},
		{"blocks: a tier of the table is damaged", true, "0 1 3 4", "", "", -1, false, "0 1 2/2"},
		{"blocks: the last tier of the table is damaged", true, "0 1 2 3", "0 1", "", -1, false, "2 3 4/"},
		{"blocks: the table is complete", true, all, "", "", -1, false, "/"},
		{"blocks: all directories are wanted, one is damaged", true, all, "0 1 3 4", "0 1 3 4", -1, true, "2/2"},
		{"blocks: until tier 2", true, "", "0", "", 2, false, "1 2/"},
		{"blocks: until tier 2, the table is complete", true, all, "", "", 2, false, "/"},
		{"blocks: until tier 2, its table is damaged", true, "0 1 3 4", "", "", 2, false, "0 1 2/"},

		{"layers: nothing is there", false, "", "", "", -1, false, "0 1 2 3 4/0 1 2 3 4"},
		{"layers: the forward pass was interrupted", false, "", "0>12 1>2 2>34", "", -1, false, "3 4/0 1 2 3 4"},
		{"layers: messages that were read are deleted", false, "", "0>12! 1>2! 2>34", "", -1, false, "3 4/0 1 2 3 4"},
		{"layers: deleted messages are needed again", false, "", "0>12! 1>3 3>4 4", "", -1, false, "0 2/0 1 2 3 4"},
		{"layers: a missing tier may have sent messages", false, "", "0>1 2>3 3>4", "", -1, false, "1 4/0 1 2 3 4"},
		{"layers: the retrograde pass was interrupted", false, "4", "0>1! 1>2! 2>3! 3>4!", "4>3", -1, false, "/0 1 2 3"},
		{"layers: the values are there, not in the table", false, "", "0>1! 1>2! 2>3! 3>4!", "4>3 3>2", -1, false, "0 1 2 3 4/0 1 2 3 4"},
		{"layers: the shards of values were deleted", false, "4", "0>1! 1>2! 2>3! 3>4!", "4->3! 3->2!", -1, false, "0 1 2 3 4/0 1 2 3 4"},
		{"layers: the table is complete", false, all, "", "", -1, false, "/"},
		{"layers: a tier of the table is damaged", false, "0 1 3 4", "", "", -1, false, "0 1 2 3 4/2 3 4"},
		{"layers: a tier of the table is damaged, its messages are there", false, "0 1 3 4", "2", "4 3>2", -1, false, "/2"},
		{"layers: all directories are wanted", false, all, "0>1 1>2 2>3 3>4 4", "4>3 3>2 1>0 0", -1, true, "/2"},
		{"layers: until tier 2", false, "", "0>1", "", 2, false, "1 2/"},
		{"layers: receivers out of range", false, all, "0>9!", "1>9!", -1, false, "/"},
	} {
		s := tierState{tabled: make([]bool, 5), until: test.until, stop: test.until >= 0, keepAll: test.keepAll,
			valued: test.blocks, first: parseDirs(t, test.firsts, test.blocks, true), second: parseDirs(t, test.second, test.blocks, false)}
		if !s.stop {
			s.until = 4
		}
		for tier := range s.tabled {
			s.tabled[tier] = strings.Contains(test.tabled, fmt.Sprint(tier))
		}
		first, second := s.toRun()
		if got := tiersOf(first) + "/" + tiersOf(second); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
