package layers

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A createFunc creates a file in the directory of a job.
type createFunc func(name string) (io.WriteCloser, error)

// sentName returns the name of the file with the lines of the messages that reducer i sends to a stage, such as
// to-00012-00000 for tier 12, or to-00012.3-00000 for pass 3 over it.
func sentName(i string, to step.Stage) string {
	return fmt.Sprintf("%s%05d%s-%s", store.SentPrefix, to.Tier(), to.Suffix(), i)
}

// WriteLines writes the shards and the messages of a job's directory, which need not be sealed, as lines beside them: a
// file for each shard, and one for each stage to which a reducer sends.
func WriteLines(fsys store.FS, dir string, g game.Game, create createFunc) error {
	entries, err := fsys.ReadDir(dir)
	for _, e := range entries {
		f := &file{fsys: fsys, name: path.Join(dir, e.Name()), g: g, sent: true}
		switch {
		case err != nil:
		case strings.HasPrefix(e.Name(), store.PartPrefix):
			var out io.WriteCloser
			if out, err = create(store.LinesPrefix + f.number()); err == nil {
				err = f.eachStage(func(_ step.Stage, s *Source) error { return s.writeLines(out) })
				err = errors.Join(err, out.Close())
			}
		case strings.HasPrefix(e.Name(), store.OutboxPrefix):
			err = f.writeSent(create)
		}
	}
	return err
}

// number returns the number of the reducer that has written the file, as in its name.
func (f *file) number() string {
	_, number, _ := strings.Cut(strings.TrimSuffix(path.Base(f.name), path.Ext(f.name)), "-")
	return number
}

// writeSent writes messages as lines: a file for each stage that receives them.
func (f *file) writeSent(create createFunc) error {
	return f.eachStage(func(to step.Stage, s *Source) error {
		out, err := create(sentName(f.number(), to))
		if err != nil {
			return err
		}
		return errors.Join(s.writeLines(out), out.Close())
	})
}

// writeLines writes all rows as lines.
func (s *Source) writeLines(out io.Writer) error {
	var text []byte
	return s.Each(func(rows []Row) error {
		text = s.AppendLines(text[:0], rows)
		_, err := out.Write(text)
		return err
	})
}

// AppendLines appends the lines of rows of the source, which must not be empty.
func (s *Source) AppendLines(text []byte, rows []Row) []byte {
	width := streamfmt.KeyWidth(s.files[0].g.KeyBits())
	for _, r := range rows {
		text = streamfmt.AppendRow(text, r, s.kind, width)
	}
	return text
}
