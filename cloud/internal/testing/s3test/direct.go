package s3test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
)

// A Direct is an HTTP client that passes requests to a server in this process without a
// connection, so that the clock of a test can be simulated.
type Direct struct {
	Server http.Handler
	Before func(*http.Request) // called with each request; may be nil
}

// Config returns the configuration of an S3 client that uses d.
func (d *Direct) Config() sdk.Config {
	return sdk.Config{Region: Region, BaseEndpoint: sdk.String("http://127.0.0.1"), HTTPClient: d,
		Credentials: sdk.CredentialsProviderFunc(func(context.Context) (sdk.Credentials, error) {
			return sdk.Credentials{AccessKeyID: "testing", SecretAccessKey: "testing"}, nil
		})}
}

// Do implements the SDK's HTTPClient.
func (d *Direct) Do(r *http.Request) (answer *http.Response, err error) {
	if d.Before != nil {
		d.Before(r)
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	defer func() {
		if recover() == nil {
			return
		}
		if answer, err = w.Result(), io.ErrUnexpectedEOF; w.Body.Len() > 0 {
			answer.Body, err = io.NopCloser(io.MultiReader(answer.Body, cutOff{})), nil
		}
	}()
	d.Server.ServeHTTP(w, r)
	return w.Result(), nil
}

// cutOff is the end of an answer that is cut off.
type cutOff struct{}

func (cutOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
