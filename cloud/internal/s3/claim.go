package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	service "github.com/aws/aws-sdk-go-v2/service/s3"
)

// A Claim is the right to write below a path. S3 has no locks that end with their owner.
// Instead, a claim is an object that its owner rewrites from time to time. The writes are
// conditional (If-Match), so if two processes want a claim, one of them is refused. A claim
// expires when its owner has not rewritten it for the time stated in it. Its age is measured
// by S3's clock alone.
type Claim struct {
	f    *FS
	name string
	text claimText
	stop context.CancelFunc
	done chan struct{}

	mu      sync.Mutex
	etag    *string
	renewed time.Time // when it was last written, by wall-clock time, which includes the time that the machine slept
	lost    error
}

// claimText is the content of a claim's object.
type claimText struct {
	Who     string  `json:"who"`
	Since   string  `json:"since"`   // RFC 3339
	Seconds float64 `json:"seconds"` // validity, from the last write
	Token   string  `json:"token"`   // distinguishes claims of the same owner
}

// A ClaimedError is the error for a path to which another process has a valid claim.
type ClaimedError struct {
	Name  string // name of the claim's object
	Who   string
	Since string
	Age   time.Duration // time since the last write
	Left  time.Duration // time until the claim expires unless it is written again
}

func (e *ClaimedError) Error() string {
	return fmt.Sprintf("%s: in use by %s since %s (last renewed %v ago; if that process is dead, the claim expires in %v)",
		e.Name, e.Who, e.Since, e.Age.Round(time.Second), e.Left.Round(time.Second))
}

// ErrLost is the error of a claim that was not renewed in time, and that another process has
// taken over.
var ErrLost = errors.New("another process has taken over, because this one did not renew its claim in time")

// ErrUnconditional is the error for a server that ignores the conditions of a write. With such
// a server, a claim does not exclude other processes.
var ErrUnconditional = errors.New("this S3 ignores If-Match or If-None-Match, so two drivers could write at once: use a server with conditional writes")

const (
	// maxHold bounds the validity of claims of other processes, whatever their object
	// contains.
	maxHold = time.Hour
	// Hold is the validity of the claims of our drivers, and of a claim that cannot be parsed.
	Hold = 2 * time.Minute
	// maxClaim bounds the number of bytes read from a claim.
	maxClaim = 64 << 10
)

// renewals is how often a claim is renewed within its validity.
const renewals = 4

// Claim claims the path that the object name stands for. The claim stays valid for hold after
// its last write. An expired claim of another process is taken over, and from is the owner of
// that. If the claim of another process is valid, the error is a *ClaimedError.
func (f *FS) Claim(ctx context.Context, name, who string, hold time.Duration) (c *Claim, from string, err error) {
	c = &Claim{f: f, name: name, done: make(chan struct{})}
	c.text = claimText{Who: who, Since: time.Now().UTC().Format(time.RFC3339), Seconds: hold.Seconds(), Token: rand.Text()}
	// Read the object first: a server that ignores conditions would overwrite a valid claim.
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
		err = fmt.Errorf("%s: another driver has just started there", f.Name(name))
	}
	if err != nil {
		return nil, "", err
	}
	if err := c.probe(ctx); err != nil {
		if c.mayHaveExpired() { // then another process may have deleted it
			err = fmt.Errorf("%s: %w", f.Name(name), ErrLost)
		}
		return nil, "", errors.Join(err, c.withdraw(ctx))
	}
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	go c.keep(ctx, hold/renewals)
	return c, from, nil
}

// write writes the claim as a new object or, if in is not nil, in place of the object with
// that tag. The error is errTaken if another process was first.
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
		// It may be our own write: if an answer is lost, the SDK sends the request again.
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
	c.etag, c.renewed = etag, now
	return nil
}

// put writes the object of the claim as a new one or, if in is not nil, in place of the one
// with that tag.
func (c *Claim) put(ctx context.Context, text []byte, in *string) (*service.PutObjectOutput, error) {
	put := &service.PutObjectInput{Bucket: &c.f.bucket, Key: sdk.String(keyOf(c.name)), Body: bytes.NewReader(text), IfMatch: in}
	if in == nil {
		put.IfNoneMatch = sdk.String("*")
	}
	return c.f.client.PutObject(ctx, put)
}

// probe checks that the server obeys conditions. It must refuse to write the claim, which
// exists, as a new object, and in place of an object with another tag.
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

// read reads the existing claim, and returns how long ago it was written. For a claim that
// cannot be parsed, it returns an unknown owner: such a claim also expires when it is not
// renewed, so that it never blocks a path for good.
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
			Seconds: Hold.Seconds(),
		}
	}
	text.Seconds = min(text.Seconds, maxHold.Seconds())
	now, ok := awsmiddleware.GetServerTime(out.ResultMetadata)
	if !ok {
		now = time.Now()
	}
	return text, out.ETag, max(0, now.Sub(sdk.ToTime(out.LastModified))), nil
}

// keep renews the claim regularly.
func (c *Claim) keep(ctx context.Context, every time.Duration) {
	defer close(c.done)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.renew(ctx) // an error will occur again, or Held will return it
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

// Held returns an error if the claim is not valid any more, for example after the machine has
// slept for a night. If the claim may have expired, Held renews it first.
func (c *Claim) Held(ctx context.Context) error {
	c.mu.Lock()
	lost := c.lost
	c.mu.Unlock()
	if lost != nil {
		return lost
	}
	if !c.mayHaveExpired() {
		return nil
	}
	return c.renew(ctx)
}

// mayHaveExpired reports whether the claim was last written long ago.
func (c *Claim) mayHaveExpired() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Round(0).Sub(c.renewed) >= time.Duration(c.text.Seconds/2*float64(time.Second))
}

// Release gives up the claim.
func (c *Claim) Release(ctx context.Context) error {
	c.stop()
	<-c.done
	return c.withdraw(ctx)
}

// withdraw deletes the object of the claim, unless another process has taken it over.
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
