// Package aws finds credentials, region and endpoint where every AWS tool looks for them, and
// explains in one line what is wrong with them. It contains no service client: callers make
// one from the configuration.
package aws

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/smithy-go/logging"
)

const (
	// attempts is the maximum number of attempts of a call that a service throttles, or that
	// gets no answer, unless AWS_MAX_ATTEMPTS sets another. With the growing pauses between
	// them, they take half a minute.
	attempts = 7
	// silence is how long a server may send nothing before a request fails, also while it receives the largest object,
	// a program of 20 MB.
	silence = 2 * time.Minute
	// instanceWait bounds the wait for the metadata server of an instance. On EC2, it answers within milliseconds;
	// elsewhere there is none.
	instanceWait = 2 * time.Second
)

// ErrNoCredentials is the error of Load if there are no credentials.
var ErrNoCredentials = errors.New("no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile of ~/.aws (aws configure makes one)")

// ErrNoRegion is the error of Load if there is no region.
var ErrNoRegion = errors.New("no AWS region: set AWS_REGION (eu-central-1, …), or region in the profile in ~/.aws/config")

// Load returns the configuration of a command. The credentials come from the environment
// (AWS_ACCESS_KEY_ID, …), a profile (keys, a role, single sign-on, a process), a container or
// the role of the instance, in this order; the region from AWS_REGION or the
// profile. AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3 and similar variables name a server other
// than Amazon's; the clients of services read them themselves.
//
// Load retrieves the credentials once, to detect missing ones early. Its error is
// ErrNoCredentials, ErrNoRegion, or an error from Explain.
func Load(ctx context.Context) (aws.Config, error) {
	c, err := config.LoadDefaultConfig(ctx,
		config.WithLogger(logging.Nop{}), // the SDK's log only repeats errors of calls, or is of no use
		config.WithHTTPClient(awshttp.NewBuildableClient().WithReadTimeout(silence)))
	if none := (config.SharedConfigProfileNotExistError{}); errors.As(err, &none) {
		return c, fmt.Errorf("AWS profile %q: neither ~/.aws/config nor ~/.aws/credentials has it (aws configure list-profiles lists them)", none.Profile)
	}
	if err != nil {
		return c, fmt.Errorf("AWS configuration: %w", err)
	}
	if c.RetryMaxAttempts == 0 {
		c.RetryMaxAttempts = attempts
	}
	if err := hasCredentials(ctx, c); err != nil {
		return c, err
	}
	if c.Region == "" {
		return c, ErrNoRegion
	}
	return c, nil
}

// hasCredentials retrieves the credentials, and returns an error that explains why there are
// none.
func hasCredentials(ctx context.Context, c aws.Config) error {
	ofInstance := aws.IsCredentialsProvider(c.Credentials, &ec2rolecreds.Provider{})
	try := ctx
	if ofInstance { // nothing else is configured
		var cancel context.CancelFunc
		try, cancel = context.WithTimeout(ctx, instanceWait)
		defer cancel()
	}
	_, err := c.Credentials.Retrieve(try)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case ofInstance:
		return ErrNoCredentials
	}
	return fmt.Errorf("AWS credentials: %w", Explain(err))
}

// Sleep waits. It returns the error of the context if that is done first.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
