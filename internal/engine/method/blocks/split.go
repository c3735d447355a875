package blocks

import (
	"strconv"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// allRanges is larger than any range.
const allRanges = ^uint64(0)

// end returns the range at which partition or split i ends: the border of the next one, or
// allRanges.
func end(borders []uint64, i int) uint64 {
	if i+1 < len(borders) {
		return borders[i+1]
	}
	return allRanges
}

// Splits divides the input of a job among mappers, each of which gets about the same number of bytes of one shard. It
// returns about as many as tasks wants, but at least one for each shard that has records. It opens only the shards that it
// divides: what it needs of the others is in the seal, with which the mappers compare them.
func (m *Method) Splits(j *runner.Job, tasks func(records int64) int) (inputs [][]step.Split, records int64, err error) {
	parts, err := jobdir.List(j.FS, j.Input[0], m.g.Spec(), store.PartPrefix)
	if err != nil {
		return nil, 0, err
	}
	for i := range parts {
		if part := &parts[i]; part.Seal == nil {
			made, err := jobdir.Seal(j.FS, part.Name)
			if err != nil {
				return nil, 0, err
			}
			part.Seal = &made
		}
		records += int64(parts[i].Seal.Records)
	}
	perPart := max(1, (tasks(records)+len(parts)-1)/max(1, len(parts)))
	for _, part := range parts {
		if part.Seal.Records == 0 {
			continue
		}
		borders := []uint64{0}
		if perPart > 1 {
			if borders, err = divide(j.FS, part, m.g, j.InputTier(0), perPart); err != nil {
				return nil, 0, err
			}
		}
		for k, from := range borders {
			inputs = append(inputs, []step.Split{{File: part.Name, From: from, To: end(borders, k)}})
		}
	}
	return inputs, records, nil
}

// divide divides the ranges of a shard of a tier, see Tier.Split.
func divide(fsys store.FS, part jobdir.File, g game.Blockwise, tier, n int) ([]uint64, error) {
	t, err := OpenTierFiles(fsys, []jobdir.File{part}, g, tier)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.Split(n), nil
}

// Split divides the ranges into up to n partitions of about the same number of bytes, and
// returns the first range of each. The first is 0, and they ascend strictly. A page of the index is in one partition: to
// read pages in HDFS is to read most of the blocks before them.
func (t *Tier) Split(n int) []uint64 {
	borders := []uint64{0}
	var all, before uint64 // the number of bytes of all pages, and of those so far
	for _, f := range t.shards {
		f.EachPage(t.tier, func(_, _, bytes uint64) { all += bytes })
	}
	for _, f := range t.shards {
		f.EachPage(t.tier, func(rng, _, bytes uint64) {
			if rng > borders[len(borders)-1] && before*uint64(n) >= all*uint64(len(borders)) {
				borders = append(borders, rng)
			}
			before += bytes
		})
	}
	return borders
}

// Partitions divides the pairs of a job among reducers.
func (m *Method) Partitions(j *runner.Job, reducers int) ([]uint64, []step.Property, error) {
	properties := append(j.Properties(nil), step.Property{Name: "tier", Value: strconv.Itoa(j.Tier)},
		step.Property{Name: "predecessors", Value: j.Predecessors})
	return Borders(m.g, j.Tier, reducers)[1:], properties, nil
}
