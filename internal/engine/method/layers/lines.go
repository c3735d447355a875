package layers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A createFunc creates a file in the directory of a job.
type createFunc func(name string) (io.WriteCloser, error)

// WriteLines writes the shards and the messages of a job, whose directory need not be sealed, as lines beside them: a file for
// each shard, and one for each stage to which a reducer sends.
func (m *Method) WriteLines(j *runner.Job) error {
	entries, err := j.FS.ReadDir(j.Output)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), store.PartPrefix) || strings.HasPrefix(e.Name(), store.OutboxPrefix) {
			err = cmp.Or(err, (&file{fsys: j.FS, File: jobdir.File{Name: path.Join(j.Output, e.Name())}, g: m.g, sent: true}).writeLines(j.Create))
		}
	}
	return err
}

// writeLines writes the rows of a file as lines: those of shard 2 to part-00002, and those that its reducer sends to a stage to
// a file such as to-00012-00002 for tier 12, or to-00012.3-00002 for pass 3 over it.
func (f *file) writeLines(create createFunc) error {
	prefix, number, _ := strings.Cut(strings.TrimSuffix(path.Base(f.Name), jobdir.Suffix), "-")
	return f.eachStage(func(to step.Stage, s *Source) error {
		name := store.LinesPrefix + number
		if prefix+"-" == store.OutboxPrefix {
			name = fmt.Sprintf("%s%05d%s-%s", store.SentPrefix, to.Tier(), to.Suffix(), number)
		}
		out, err := create(name)
		if err != nil {
			return err
		}
		var text []byte
		err = s.Each(func(rows []Row) error {
			text = appendLines(text[:0], f.g, s.kind, rows)
			_, err := out.Write(text)
			return err
		})
		return errors.Join(err, out.Close())
	})
}

// appendLines appends the lines of rows.
func appendLines(text []byte, g game.Game, kind Kind, rows []Row) []byte {
	width := streamfmt.KeyWidth(g.KeyBits())
	for _, r := range rows {
		text = streamfmt.AppendRow(text, r, kind, width)
	}
	return text
}
