// Package emr runs steps on Amazon EMR: on a cluster that is made for them or on one
// that runs, followed until they end. What is sent to the service is data first (a Spec,
// a Step), which can be looked at before anything is sent (see DryRun). It knows no game
// and no job: a step is the words of a command line.
//
//	Spec.Request   RunJobFlow, with the steps that are known already
//	Service.Make   sends it; a lost answer makes no second cluster
//	Cluster.Ready, Add, Wait, Cancel, End
//	Logs           why a step failed, from its logs in S3
//
// What limits the costs of a cluster is kept by the cluster itself, so that nobody need
// be there to end it: see Spec.Limit and Spec.Idle.
package emr

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/emr"
)

// Limits of the service.
const (
	// MaxPending is how many steps of a cluster may be pending or running.
	MaxPending = 256
	// MaxStepLetters is how many letters the strings of a step may have together.
	MaxStepLetters = 10_240
	// MaxName is how many letters the name of a cluster or of a step may have.
	MaxName = 256
)

const (
	// defaultPoll is the time between two looks at a state: the service counts calls, and
	// a cluster takes minutes to start.
	defaultPoll = 15 * time.Second
	// defaultPatience is how long looks may fail, one after another.
	defaultPatience = 10 * time.Minute
	// lostLooks is how often it is looked for a cluster whose answer was lost, until nobody
	// believes in it.
	lostLooks = 3
	// attempts is how often a call is tried that is throttled, or fails in passing. The
	// time between two is doubled each time, up to Options.Poll.
	attempts = 8
)

// Options are what a Service may be told; the zero value is sensible.
type Options struct {
	// Poll is the time between two looks at a state; 0: 15 s.
	Poll time.Duration
	// Patience is how long looks may fail, one after another, in ways that pass; 0: ten
	// minutes.
	Patience time.Duration
	// News is called with a line for a person: the cluster starts, a look has failed and
	// is tried again. nil: nobody reads it.
	News func(line string)
	// DryRun, if it is not nil, takes each request that would change something; nothing is
	// sent, neither that nor a look.
	DryRun func(Call) error
}

// A Service is Amazon EMR in a region, called with somebody's credentials. It may be used
// by several goroutines.
type Service struct {
	client *emr.Client
	o      Options
}

// New is the service that a configuration names: region, credentials, endpoint.
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
		if o.DryRun != nil {
			e.HTTPClient = nobody{}
		}
	})}
}

// once is for a call that must not be done twice: it is tried again only if it was
// throttled, which is before it was done. After any other fault it is asked whether it
// was done.
func (s *Service) once(e *emr.Options) {
	e.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
		r.MaxAttempts, r.MaxBackoff = attempts, s.o.Poll
		r.Retryables = []retry.IsErrorRetryable{retry.RetryableErrorCode{Codes: retry.DefaultThrottleErrorCodes}}
	})
}

// poll looks at the service again and again until a look is done, an error is none that passes, or ctx
// ends, and explains the error. A look that fails in passing is forgiven, as long as Options.Patience.
func (s *Service) poll(ctx context.Context, look func(ctx context.Context) (done bool, err error)) error {
	var failing time.Time // since when looks have failed
	for {
		done, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && done:
			return nil
		case err == nil:
			failing = time.Time{}
		case !passes(err):
			return explain(err)
		case failing.IsZero():
			failing = time.Now()
			s.o.News(fmt.Sprintf("%v; what runs there goes on, and it is asked again", explain(err)))
		case time.Since(failing) > s.o.Patience:
			return fmt.Errorf("for %s no look at it: %w", s.o.Patience, explain(err))
		}
		timer := time.NewTimer(s.o.Poll)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}
