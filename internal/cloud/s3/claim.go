package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	service "github.com/aws/aws-sdk-go-v2/service/s3"

	"io"
)

// A Claim is the right to write below a path. S3 has no locks that end with their
// holder; a claim is an object that its holder writes anew from time to time, with If-Match,
// so that of two who want it one is refused. One that has not been written for as long as
// it says holds no more. Its age is by the clock of S3 alone.
type Claim struct {
	f    *FS
	name string
	text claimText
	stop context.CancelFunc
	done chan struct{}

	mu    sync.Mutex
	etag  *string
	heard time.Time // when it was written last, by the wall: a machine that slept has not
	lost  error
}

// claimText is what the object of a claim says.
type claimText struct {
	Who     string  `json:"who"`
	Since   string  `json:"since"`   // RFC 3339
	Seconds float64 `json:"seconds"` // for which it holds from when it was written
	Token   string  `json:"token"`   // tells claims of one holder apart
}

// A ClaimedError is of a path that another has a claim to.
type ClaimedError struct {
	Name  string // of the claim's object
	Who   string
	Since string
	Heard time.Duration // how long ago it was written
	Left  time.Duration // for which it holds, unless it is written again
}

func (e *ClaimedError) Error() string {
	return fmt.Sprintf("%s: %s has been at work there since %s (heard of %v ago; if it is dead, the claim ends in %v)",
		e.Name, e.Who, e.Since, e.Heard.Round(time.Second), e.Left.Round(time.Second))
}

// ErrLost is of a claim that another has taken over, for it had not been renewed in time.
var ErrLost = errors.New("another has taken over, as nothing was heard of this one for too long")

// ErrUnconditional is returned for a server that ignores the conditions of a write, so that
// no claim there excludes another.
var ErrUnconditional = errors.New("this S3 ignores If-Match or If-None-Match, so two drivers could write at once: use a server with conditional writes")

const (
	// maxHold bounds the time for which a claim that another wrote holds, whatever it says.
	maxHold = time.Hour
	// unreadableHold is the time for which a claim that cannot be read holds: as long as
	// the claims of our drivers.
	unreadableHold = 2 * time.Minute
	// maxClaim bounds the bytes that are read of a claim.
	maxClaim = 64 << 10
)

// renewals are how often a claim is renewed within the time for which it holds.
const renewals = 4

// Claim makes a claim to what an object of that name stands for, which holds for so
// long after the last sign of life. If another's has ended, it is taken over, and from says
// whose it was. A *ClaimedError: another's holds.
func (f *FS) Claim(ctx context.Context, name, who string, hold time.Duration) (c *Claim, from string, err error) {
	c = &Claim{f: f, name: name, done: make(chan struct{})}
	c.text = claimText{Who: who, Since: time.Now().UTC().Format(time.RFC3339), Seconds: hold.Seconds(), Token: rand.Text()}
	// It is read first: a server that ignores conditions would replace a claim that holds.
	old, etag, age, err := c.read(ctx)
	switch left := time.Duration(old.Seconds*float64(time.Second)) - age; {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, "", err
	case left > 0:
		return nil, "", &ClaimedError{f.Name(name), old.Who, old.Since, age, left}
	default:
		from = old.Who
	}
	err = c.write(ctx, etag)
	if errors.Is(err, errTaken) {
		err = fmt.Errorf("%s: another driver has just begun there", f.Name(name))
	}
	if err != nil {
		return nil, "", err
	}
	if err := c.probe(ctx); err != nil {
		return nil, "", errors.Join(err, c.withdraw(ctx))
	}
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	go c.keep(ctx, hold/renewals)
	return c, from, nil
}

// write writes the claim: where there is none, or in place of the one with that tag.
// errTaken: there is another.
func (c *Claim) write(ctx context.Context, in *string) error {
	text, err := json.Marshal(c.text)
	if err != nil {
		return err
	}
	now := time.Now().Round(0)
	out, err := c.put(ctx, text, in)
	if in != nil {
		err = c.f.orMissing(ctx, keyOf(c.name), err)
	}
	var etag *string
	switch {
	case err == nil:
		etag = out.ETag
	case errors.Is(known(err), errTaken) || errors.Is(known(err), fs.ErrNotExist):
		// It may have been ours: an answer that was lost is asked for again.
		there, tag, _, readErr := c.read(ctx)
		if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
			return readErr
		}
		if readErr != nil || there.Token != c.text.Token {
			return errTaken
		}
		etag = tag
	default:
		return c.f.failed("claim", c.name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.etag, c.heard = etag, now
	return nil
}

// put makes the object of the claim: where there is none, or in place of the one with that tag.
func (c *Claim) put(ctx context.Context, text []byte, in *string) (*service.PutObjectOutput, error) {
	put := &service.PutObjectInput{Bucket: &c.f.bucket, Key: sdk.String(keyOf(c.name)), Body: bytes.NewReader(text), IfMatch: in}
	if in == nil {
		put.IfNoneMatch = sdk.String("*")
	}
	return c.f.client.PutObject(ctx, put)
}

// probe checks that the server refuses to write the claim again, which is there, where none
// is to be, or in place of one with another tag.
func (c *Claim) probe(ctx context.Context) error {
	text, err := json.Marshal(c.text)
	if err != nil {
		return err
	}
	for _, in := range []*string{nil, sdk.String(`"00000000000000000000000000000000"`)} {
		_, err := c.put(ctx, text, in)
		switch {
		case err == nil:
			return fmt.Errorf("%s: %w", c.f.Name(c.name), ErrUnconditional)
		case !errors.Is(known(err), errTaken):
			return c.f.failed("claim", c.name, err)
		}
	}
	return nil
}

// read reads the claim that is there, and how long ago it was written. A claim that cannot
// be read is returned as one of an unknown holder: it ends like any other that is not
// renewed, so that it never blocks a path for ever.
func (c *Claim) read(ctx context.Context) (text claimText, etag *string, age time.Duration, err error) {
	out, err := c.f.client.GetObject(ctx, &service.GetObjectInput{Bucket: &c.f.bucket, Key: sdk.String(keyOf(c.name))})
	if err = c.f.orMissing(ctx, keyOf(c.name), err); err != nil {
		return text, nil, 0, c.f.failed("read", c.name, err)
	}
	defer out.Body.Close()
	content, err := io.ReadAll(io.LimitReader(out.Body, maxClaim))
	if err != nil {
		return text, nil, 0, c.f.failed("read", c.name, err)
	}
	if err := json.Unmarshal(content, &text); err != nil || text.Who == "" {
		text = claimText{
			Who:     fmt.Sprintf("an unknown driver (its claim is not readable: %.40q)", content),
			Since:   sdk.ToTime(out.LastModified).Format(time.RFC3339),
			Seconds: unreadableHold.Seconds(),
		}
	}
	text.Seconds = min(text.Seconds, maxHold.Seconds())
	now, ok := awsmiddleware.GetServerTime(out.ResultMetadata)
	if !ok {
		now = time.Now()
	}
	return text, out.ETag, max(0, now.Sub(sdk.ToTime(out.LastModified))), nil
}

// keep writes the claim from time to time.
func (c *Claim) keep(ctx context.Context, every time.Duration) {
	defer close(c.done)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.renew(ctx) // what goes wrong comes again, or Held says it
		}
	}
}

// renew writes the claim again.
func (c *Claim) renew(ctx context.Context) error {
	c.mu.Lock()
	etag, lost := c.etag, c.lost
	c.mu.Unlock()
	if lost != nil {
		return lost
	}
	err := c.write(ctx, etag)
	if errors.Is(err, errTaken) {
		err = fmt.Errorf("%s: %w", c.f.Name(c.name), ErrLost)
		c.mu.Lock()
		c.lost = err
		c.mu.Unlock()
	}
	return err
}

// Held is an error if the claim holds no more, as after a night in which the machine
// slept. One that may have ended is renewed first.
func (c *Claim) Held(ctx context.Context) error {
	c.mu.Lock()
	lost, age := c.lost, time.Now().Round(0).Sub(c.heard)
	c.mu.Unlock()
	if lost != nil {
		return lost
	}
	if age < time.Duration(c.text.Seconds/2*float64(time.Second)) {
		return nil
	}
	return c.renew(ctx)
}

// Release gives the claim up.
func (c *Claim) Release(ctx context.Context) error {
	c.stop()
	<-c.done
	return c.withdraw(ctx)
}

// withdraw removes the claim, unless it is another's by now.
func (c *Claim) withdraw(ctx context.Context) error {
	there, _, _, err := c.read(ctx)
	if errors.Is(err, fs.ErrNotExist) || err == nil && there.Token != c.text.Token {
		return nil
	}
	if err != nil {
		return err
	}
	return c.f.Remove(ctx, c.name)
}
