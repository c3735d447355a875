package layers

import (
	"slices"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// mapInputs divides the rows of sources among at most n mappers. A split is consecutive cells of a file.
func mapInputs(n int, sources ...*Source) (inputs [][]step.Split) {
	all, rows := int64(0), int64(0)
	for _, s := range sources {
		all += s.rows
	}
	for _, s := range sources {
		for _, f := range s.files {
			for i, c := range f.cells {
				if rows >= all*int64(len(inputs))/int64(n) {
					inputs = append(inputs, nil)
				}
				splits, at := &inputs[len(inputs)-1], uint64(i)
				if last := len(*splits) - 1; last >= 0 && (*splits)[last].File == f.Name {
					(*splits)[last].To = at + 1
				} else {
					*splits = append(*splits, step.Split{File: f.Name, From: at, To: at + 1})
				}
				rows += int64(c.Records)
			}
		}
	}
	return inputs
}

// Splits divides the input of a job among mappers.
func (m *Method) Splits(j *runner.Job, tasks func(records int64) int) (maps [][]step.Split, records int64, err error) {
	rows, err := m.Rows(j)
	if err != nil {
		return nil, 0, err
	}
	defer CloseAll(rows)
	for _, s := range rows {
		records += s.Rows()
	}
	return mapInputs(tasks(records), rows...), records, nil
}

// Partitions divides the pairs of a job among reducers.
func (m *Method) Partitions(j *runner.Job, reducers int) ([]uint64, []step.Property, error) {
	borders, err := bordersOf(j.FS, j.BordersFrom, m.g, reducers)
	if err != nil {
		return nil, nil, err
	}
	borders = slices.Compact(append([]uint64{0}, borders...))[1:] // Hadoop would reject equal ones
	return borders, j.Properties(runner.LineKeys(m.g, borders)), nil
}
