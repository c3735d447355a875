// Package emr runs steps on Amazon EMR, on a new cluster or on one that is running, and
// follows them until they end. The package knows neither
// games nor jobs: a step is the words of a command line.
//
//	Spec.Request   RunJobFlow, with the steps that are known at the start
//	Service.Make   sends it; does not create a second cluster if the answer is lost
//	Cluster.Ready, Add, Wait, Cancel, End
//	Logs           why a step failed, from its logs in S3
//
// The limits that bound the cost of a cluster are enforced by the cluster itself, so that it
// ends even if this program is not running: see Spec.Limit and Spec.Idle.
package emr

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/emr"

	cloud "github.com/treereduce/treereduce/cloud/internal/aws"
)

// Limits of the service.
const (
	// MaxStepLetters is the maximum total number of characters in the strings of a step.
	MaxStepLetters = 10_240
	// MaxName is the maximum number of characters in the name of a cluster or step.
	MaxName = 256
)

const (
	// defaultPoll is the default polling interval: the service limits the rate of calls, and a
	// cluster takes minutes to start.
	defaultPoll = 15 * time.Second
	// defaultPatience is the default time for which all polls may fail.
	defaultPatience = 10 * time.Minute
	// lostLooks is the number of polls that look for a cluster or step after the answer to its
	// request was lost. After that, it is taken not to exist.
	lostLooks = 3
	// attempts is the maximum number of attempts of a call that is throttled, or fails with a
	// temporary error. The pause between attempts doubles each time, up to Options.Poll.
	attempts = 8
)

// Options are the options of a Service. The zero value is valid.
type Options struct {
	// Poll is the polling interval; 0 means 15 s.
	Poll time.Duration
	// Patience is how long consecutive polls may fail with temporary errors; 0 means ten
	// minutes.
	Patience time.Duration
	// News is called with a line for the user: the cluster starts, or a poll has failed and is
	// retried. It may be nil.
	News func(line string)
}

// A Service is Amazon EMR in a region, with credentials. It is safe for concurrent use.
type Service struct {
	client *emr.Client
	o      Options
}

// New returns the service for the region, credentials and endpoint of a configuration.
func New(cfg aws.Config, o Options) *Service {
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.News == nil {
		o.News = func(string) {}
	}
	return &Service{o: o, client: emr.NewFromConfig(cfg, func(e *emr.Options) {
		e.Retryer = retry.NewStandard(func(r *retry.StandardOptions) { r.MaxAttempts, r.MaxBackoff = attempts, o.Poll })
	})}
}

// once sets the retry policy for a call that must not be executed twice. The call is retried
// only if it was throttled, because then it was not executed. After any other error, the
// caller must find out whether it was executed.
func (s *Service) once(e *emr.Options) {
	e.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
		r.MaxAttempts, r.MaxBackoff = attempts, s.o.Poll
		r.Retryables = []retry.IsErrorRetryable{retry.RetryableErrorCode{Codes: retry.DefaultThrottleErrorCodes}}
	})
}

// unknown reports whether a call that returned an error may have been executed: it was sent,
// and there was no answer, or one that does not mean that it was refused.
func unknown(err error) bool {
	var network *net.OpError
	unsent := errors.As(err, &network) && network.Op == "dial"
	return err != nil && cloud.IsTransient(err) && !cloud.IsThrottled(err) && !unsent
}

// lost looks for a cluster or a step whose answer was lost, until look returns an identifier. "" means
// that it was not found in lostLooks polls: a request may still be executed after the client has
// stopped waiting for its answer.
func (s *Service) lost(ctx context.Context, look func(context.Context) (id string, err error)) (id string, err error) {
	looks := 0
	err = s.poll(ctx, func(ctx context.Context) (bool, error) {
		var err error
		if id, err = look(ctx); err == nil {
			looks++
		}
		return id != "" || looks == lostLooks, err
	})
	return id, err
}

// poll calls look at intervals until it is done, fails with a permanent error, or ctx is done.
// It returns the explained error. Temporary errors are ignored for up to Options.Patience.
func (s *Service) poll(ctx context.Context, look func(ctx context.Context) (done bool, err error)) error {
	var failing time.Time // time since which all polls have failed
	for {
		done, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && done:
			return nil
		case err == nil:
			failing = time.Time{}
		case !cloud.IsTransient(err):
			return cloud.Explain(err)
		case failing.IsZero():
			failing = time.Now()
			s.o.News(fmt.Sprintf("%v; the cluster keeps running, and polling continues", cloud.Explain(err)))
		case time.Since(failing) > s.o.Patience:
			return fmt.Errorf("no answer for %s: %w", s.o.Patience, cloud.Explain(err))
		}
		if err := cloud.Sleep(ctx, s.o.Poll); err != nil {
			return err
		}
	}
}
