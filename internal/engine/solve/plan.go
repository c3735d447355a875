package solve

import "slices"

// The functions in this file decide which jobs come next. They depend only on their arguments:
// what is in the data directory, and what is requested.

// A tierState describes a data directory of a game with tiers, and the request.
type tierState struct {
	tabled  []bool // by tier, whether the tier is in the table
	until   int    // the last tier of the forward pass
	stop    bool   // whether the run ends after the forward pass
	keepAll bool
	whole   bool // whether jobs need all positions of tiers of which the table stores half

	// The functions return the complete directory of a tier's job, nil if there is none.
	first, second func(tier int) *output
}

// An output describes the complete directory of a job.
type output struct {
	shards    bool  // whether it has its shards: positions, or their values
	receivers []int // the tiers that its messages are for, ascending
	dropped   bool  // whether its messages have been deleted
}

// blocksToRun returns, by tier, which jobs of a game by blocks must run. The job of data_first
// reads the previous data_first; that of data_second reads the next values, which are in the table, or, if whole is set,
// in data_second, or data_first of the last tier.
func blocksToRun(s tierState) (first, second []bool) {
	last := len(s.tabled) - 1
	first, second = make([]bool, last+2), make([]bool, last+1)
	wanted := make([]bool, last+2) // by tier, whether a directory with its values is wanted
	for tier := 0; tier < last && !s.stop; tier++ {
		lacks := s.second(tier) == nil
		second[tier] = !s.tabled[tier] || (s.keepAll || wanted[tier]) && lacks
		wanted[tier+1] = s.whole && second[tier]
	}
	for tier := s.until; tier >= 0; tier-- {
		wants := s.keepAll || first[tier+1] || second[tier] || s.stop && !s.tabled[tier] || tier == last && wanted[tier]
		lacks := s.first(tier) == nil
		first[tier] = wants && lacks || tier == last && !s.stop && !s.tabled[tier]
	}
	return first[:last+1], second
}

// layersToRun returns, by tier, which jobs of a game by layers must run: those of tiers without
// values, and those whose messages a job that runs needs, or may need, if these messages have
// been deleted.
func layersToRun(s tierState) (first, second []bool) {
	first, second = make([]bool, len(s.tabled)), make([]bool, len(s.tabled))
	for tier := 0; tier < len(s.tabled) && !s.stop; tier++ {
		second[tier] = s.second(tier).mustRun(s.keepAll, second) || !s.tabled[tier]
	}
	for tier := s.until; tier >= 0; tier-- {
		first[tier] = s.first(tier).mustRun(s.keepAll || second[tier] || s.stop && !s.tabled[tier], first)
	}
	return first, second
}

// mustRun reports whether the job of a directory must run: because its shards are wanted and
// missing; because a job that runs needs messages from it that have been deleted; or, if there
// is no directory, because such a job may need messages from it. The slice reports, by tier,
// which of the jobs that may receive messages run.
func (o *output) mustRun(wanted bool, runs []bool) bool {
	if o == nil {
		return wanted || slices.Contains(runs, true)
	}
	receives := func(tier int) bool { return 0 <= tier && tier < len(runs) && runs[tier] }
	return wanted && !o.shards || o.dropped && slices.ContainsFunc(o.receivers, receives)
}
