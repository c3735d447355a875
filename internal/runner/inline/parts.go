package inline

import (
	"io"
	"path"

	"github.com/treereduce/treereduce/internal/jobdir"
)

// parts are the parts of a job or a pass, of which one is open after the other.
type parts[P interface{ Finish(error) error }] struct {
	create func(number int) (P, error)
	begun  int
	last   P // of those begun
	open   bool
}

// upTo ends the part that is open and begins those up to a number, which stays open.
func (p *parts[P]) upTo(number int) (P, error) {
	for p.begun <= number {
		if err := p.end(nil); err != nil {
			return p.last, err
		}
		part, err := p.create(p.begun)
		if err != nil {
			return p.last, err
		}
		p.last, p.open = part, true
		p.begun++
	}
	return p.last, nil
}

// finish ends the last part of so many. An error of whoever writes them is that of the
// part that is open, and returned.
func (p *parts[P]) finish(number int, err error) error {
	if err == nil {
		_, err = p.upTo(number - 1)
	}
	return p.end(err)
}

func (p *parts[P]) end(err error) error {
	if !p.open {
		return err
	}
	p.open = false
	return p.last.Finish(err)
}

// newTierPart begins a part of a job over a tier.
func newTierPart(job *blockJob, number int) (*jobdir.Writer, error) {
	file, err := job.FS.Create(path.Join(job.Output, jobdir.PartName(number, job.Codec)))
	if err != nil {
		return nil, err
	}
	return jobdir.NewWriter(file, job.g, job.Tier, job.Codec), nil
}

// A textPart is a part of lines.
type textPart struct{ io.WriteCloser }

// Finish closes the part. It returns err, or its own error if err is nil.
func (p textPart) Finish(err error) error {
	if closed := p.Close(); err == nil {
		err = closed
	}
	return err
}
