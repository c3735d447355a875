// Package aws finds credentials, region and endpoint where every AWS tool looks for
// them, and says in a line what is wrong with them. It knows no service: whoever calls
// one makes its client of the configuration.
package aws

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go/logging"
)

const (
	// attempts is how often a call is made that a service throttles, or that gets no
	// answer, where AWS_MAX_ATTEMPTS says nothing: half a minute of tries, which grow
	// further apart.
	attempts = 7
	// instanceWait bounds how long the metadata server of an instance may take. On EC2,
	// and so on EMR, it answers within milliseconds; elsewhere nobody does.
	instanceWait = 2 * time.Second
)

// Options are what a command line says. What is "" is looked for in the environment and
// in the files below ~/.aws.
type Options struct {
	Profile string // over AWS_PROFILE
	Region  string // over AWS_REGION and the profile's
}

// ErrNoCredentials is returned by Load where there are none.
var ErrNoCredentials = errors.New("no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile of ~/.aws (aws configure makes one)")

// ErrNoRegion is returned by Load where there is none.
var ErrNoRegion = errors.New("no AWS region: set AWS_REGION (eu-central-1, …), or region in the profile in ~/.aws/config")

// Load is the configuration of a command: credentials from the environment
// (AWS_ACCESS_KEY_ID, …), a profile (keys, a role, single sign-on, a process), a
// container or the role of the instance, in this order; the region from AWS_REGION, the
// profile or the instance. AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3 and the like name
// another server than Amazon's; a service's client heeds them by itself.
//
// Credentials are taken once, so that the want of them is told here: ErrNoCredentials,
// ErrNoRegion, or an error of Explain's.
func Load(ctx context.Context, o Options) (aws.Config, error) {
	// What the SDK would log is an error of a call, or nothing to anybody.
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	if o.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(o.Profile))
	}
	if o.Region != "" {
		options = append(options, config.WithRegion(o.Region))
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	if none := (config.SharedConfigProfileNotExistError{}); errors.As(err, &none) {
		return c, fmt.Errorf("AWS profile %q: neither ~/.aws/config nor ~/.aws/credentials has it (aws configure list-profiles lists them)", none.Profile)
	}
	if err != nil {
		return c, fmt.Errorf("AWS configuration: %w", err)
	}
	c.APIOptions = append(c.APIOptions, bound)
	if c.RetryMaxAttempts == 0 {
		c.RetryMaxAttempts = attempts
	}
	if err := hasCredentials(ctx, c); err != nil {
		return c, err
	}
	if c.Region == "" {
		c.Region = instanceRegion(ctx, c)
	}
	if c.Region == "" {
		return c, ErrNoRegion
	}
	return c, nil
}

// hasCredentials takes the credentials, and says why there are none.
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

// instanceRegion is the region of the instance on which this process runs; "" if it
// runs elsewhere.
func instanceRegion(ctx context.Context, c aws.Config) string {
	ctx, cancel := context.WithTimeout(ctx, instanceWait)
	defer cancel()
	out, err := imds.NewFromConfig(c).GetRegion(ctx, nil)
	if err != nil {
		return ""
	}
	return out.Region
}
