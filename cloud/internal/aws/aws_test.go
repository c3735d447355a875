package aws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/treereduce/treereduce/cloud/internal/testing/moto"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// alone sets an environment without AWS variables, with the given files instead of those in
// ~/.aws and without a metadata server.
func alone(t *testing.T, conf, credentials string) {
	t.Helper()
	moto.Use(t, nil)
	dir := t.TempDir()
	for name, text := range map[string]string{"AWS_CONFIG_FILE": conf, "AWS_SHARED_CREDENTIALS_FILE": credentials} {
		file := filepath.Join(dir, name)
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		t.Setenv(name, file)
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

// TestLoad checks that keys and region come from the places of every AWS tool: the environment overrides the files.
func TestLoad(t *testing.T) {
	const conf = "[default]\nregion = eu-central-1\n[profile other]\nregion = us-west-2\n[profile nowhere]\noutput = json\n"
	const keys = "[default]\naws_access_key_id = A\naws_secret_access_key = a\n[other]\naws_access_key_id = B\naws_secret_access_key = b\n" +
		"[nowhere]\naws_access_key_id = C\naws_secret_access_key = c\n"
	for _, test := range []struct {
		name        string
		env         map[string]string
		key, region string
		err         string
	}{
		{name: "files", key: "A", region: "eu-central-1"},
		{name: "AWS_PROFILE", env: map[string]string{"AWS_PROFILE": "other"}, key: "B", region: "us-west-2"},
		{name: "AWS_REGION", env: map[string]string{"AWS_REGION": "eu-west-1"}, key: "A", region: "eu-west-1"},
		{name: "keys", env: map[string]string{"AWS_ACCESS_KEY_ID": "K", "AWS_SECRET_ACCESS_KEY": "k"}, key: "K", region: "eu-central-1"},
		{name: "no region", env: map[string]string{"AWS_PROFILE": "nowhere"}, err: ErrNoRegion.Error()},
		{name: "no profile", env: map[string]string{"AWS_PROFILE": "tset"}, err: `AWS profile "tset": neither ~/.aws/config nor ~/.aws/credentials has it (aws configure list-profiles lists them)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			alone(t, conf, keys)
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			c, err := Load(t.Context())
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("%v, expected %s", err, test.err)
				}
				return
			}
			must.OK(t, err)
			found, err := c.Credentials.Retrieve(t.Context())
			limit, _ := c.HTTPClient.(*awshttp.BuildableClient).GetReadTimeout()
			if err != nil || found.AccessKeyID != test.key || c.Region != test.region || c.RetryMaxAttempts != attempts || limit != silence {
				t.Errorf("key %q, region %q, %d attempts, %v, %v", found.AccessKeyID, c.Region, c.RetryMaxAttempts, limit, err)
			}
		})
	}
}

// TestNoCredentials checks that missing credentials are reported at once, whether there is a
// metadata server, one without a role, or none.
func TestNoCredentials(t *testing.T) {
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, env := range map[string]map[string]string{
		"disabled":  {},
		"no role":   {"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": nothing.URL},
		"no server": {"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": gone.URL},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, "", "")
			for name, value := range env {
				t.Setenv(name, value)
			}
			// Nothing else may be printed: the SDK would warn about a server without tokens.
			output := filepath.Join(t.TempDir(), "stderr")
			f, err := os.Create(output)
			must.OK(t, err)
			stderr := os.Stderr
			os.Stderr = f
			t.Setenv("AWS_REGION", "eu-west-1")
			c, err := Load(t.Context())
			os.Stderr = stderr
			if !errors.Is(err, ErrNoCredentials) {
				t.Errorf("%+v, %v", c, err)
			}
			if text, e := os.ReadFile(output); e != nil || len(text) > 0 || f.Close() != nil {
				t.Errorf("on stderr: %s, %v", text, e)
			}
		})
	}
}

// TestStopped checks that a command that is stopped meanwhile does not report missing
// credentials.
func TestStopped(t *testing.T) {
	alone(t, "", "")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Load(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestInstance checks that on an instance the role provides the keys.
func TestInstance(t *testing.T) {
	alone(t, "", "")
	instance := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
			fmt.Fprint(w, "token")
		case "/latest/meta-data/iam/security-credentials/":
			fmt.Fprint(w, "EMR_EC2_DefaultRole")
		case "/latest/meta-data/iam/security-credentials/EMR_EC2_DefaultRole":
			fmt.Fprint(w, `{"Code": "Success", "AccessKeyId": "I", "SecretAccessKey": "i", "Token": "t", "Expiration": "2099-01-01T00:00:00Z"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer instance.Close()
	t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", instance.URL)
	t.Setenv("AWS_REGION", "eu-west-1")
	c, err := Load(t.Context())
	must.OK(t, err)
	found, err := c.Credentials.Retrieve(t.Context())
	if err != nil || found.AccessKeyID != "I" || found.SessionToken != "t" {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestExplain checks that errors of services become one line with advice.
func TestExplain(t *testing.T) {
	of := func(code, message string) error {
		return &smithy.OperationError{ServiceID: "S3", OperationName: "GetObject", Err: &aws.RequestCanceledError{Err: &smithy.GenericAPIError{Code: code, Message: message}}}
	}
	for _, test := range []struct {
		err  error
		text string
	}{
		{of("ExpiredToken", "The provided token has expired.\nreally"), "S3 GetObject: ExpiredToken: The provided token has expired. (the credentials have expired: " + renew + ")"},
		{of("SlowDown", "Reduce your request rate."), "S3 GetObject: SlowDown: Reduce your request rate. (too many requests, even after retries)"},
		{of("Forbidden", "Forbidden"), "S3 GetObject: Forbidden (aws sts get-caller-identity shows the identity, whose policy must allow it)"},
		{of("Whatever", "Else."), "S3 GetObject: Whatever: Else."},
		{&smithy.OperationError{ServiceID: "S3", OperationName: "GetObject", Err: new(awshttp.ResponseTimeoutError)}, "S3 GetObject: the server is silent (check the network and AWS_ENDPOINT_URL)"},
		{errors.New("mine"), "mine"},
	} {
		err := Explain(fmt.Errorf("wrapped: %w", test.err))
		if test.err.Error() == "mine" {
			test.text = "wrapped: mine"
		}
		if err.Error() != test.text || !errors.Is(err, test.err) || Explain(err) != err {
			t.Errorf("%v\nexpected\n%s", err, test.text)
		}
		if denied := strings.Contains(test.text, "Forbidden"); errors.Is(err, fs.ErrPermission) != denied {
			t.Errorf("%v: permission denied: %v", err, !denied)
		}
	}
	for code, passes := range map[string]bool{"SlowDown": true, "ThrottlingException": true, "AccessDenied": false, "ExpiredToken": false} {
		if IsTransient(Explain(of(code, "x"))) != passes {
			t.Errorf("%q passes: %v", code, !passes)
		}
	}
	if !IsTransient(Explain(&smithy.OperationError{Err: &smithy.DeserializationError{Err: io.ErrUnexpectedEOF}})) {
		t.Error("a cut answer is permanent")
	}
	if !IsTransient(Explain(&smithy.OperationError{Err: &smithyhttp.RequestSendError{Err: io.ErrUnexpectedEOF}})) {
		t.Error("a lost answer is permanent")
	}
	if IsTransient(errors.New("mine")) || IsTransient(nil) || IsTransient(Explain(&smithy.OperationError{Err: context.Canceled})) {
		t.Error("what is none of a service passes")
	}
	if Explain(nil) != nil {
		t.Error("nil is explained")
	}
}
