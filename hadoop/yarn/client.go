// Package yarn runs, finds and ends MapReduce jobs of a Hadoop cluster by the commands of its installation, whose
// output it reads. Why a job failed, it asks the services of the cluster over HTTP, since no command says what a
// task printed:
//
//	application           ws/v1/cluster/apps/…             resource manager
//	attempts of a task    ws/v1/history/mapreduce/…        history server
//	logs                  ws/v1/node/containerlogs/…       node manager
//	aggregated logs       ws/v1/history/containerlogs/…    history server
//
// It knows only Hadoop: not who submits the jobs, not what they compute, and nothing of files
// in HDFS.
package yarn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	dialTimeout    = 3 * time.Second  // a node may be unreachable from here
	requestTimeout = 10 * time.Second // including the answer
	endWait        = 10 * time.Second // the master writes the history after its client knows that the job has failed
	historyWait    = 10 * time.Second // the history server looks for new jobs on request, but the master writes the history late
	pollInterval   = 200 * time.Millisecond

	maxAnswer = 32 << 20 // bytes; a task takes about 300
	maxLog    = 64 << 10 // bytes that are read from the end of a log
	maxPage   = 1 << 10  // bytes that are read from an error page
)

// Client asks a cluster about its jobs. It is safe for concurrent use. The
// timeout of a request is ten seconds, or less by its context.
type Client struct {
	command string
	addresses
	user string
	http *http.Client
}

// New returns a client of the cluster with the given configuration: the properties of
// core-site.xml, yarn-site.xml and mapred-site.xml (see conf.Load). The default addresses are
// Hadoop's, on this machine. command is the hadoop command. user is the name that requests send to a cluster without
// authentication; it may be empty.
func New(command string, conf map[string]string, user string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
	transport.Proxy = nil // as in Hadoop's client: http_proxy is not for the services of a cluster
	return &Client{command, findAddresses(conf), user, &http.Client{Transport: transport, Timeout: requestTimeout}}
}

// WrapTransport replaces the transport of all requests by the result of wrap, for example one that
// authenticates them.
func (c *Client) WrapTransport(wrap func(http.RoundTripper) http.RoundTripper) {
	c.http.Transport = wrap(c.http.Transport)
}

// Metrics describes the size of a cluster.
type Metrics struct {
	ActiveNodes       int
	TotalVirtualCores int // of these nodes
}

// Metrics asks the resource manager for the size of its cluster. It returns an error if there
// is no answer.
func (c *Client) Metrics(ctx context.Context) (Metrics, error) {
	var answer struct {
		ClusterMetrics struct{ ActiveNodes, TotalVirtualCores int }
	}
	err := c.getManager(ctx, "/ws/v1/cluster/metrics", &answer)
	return Metrics(answer.ClusterMetrics), err
}

// Names of the services in errors.
const (
	manager = "resource manager"
	master  = "application master"
	history = "history server"
	node    = "node manager"
)

// An answerError is the error of a failed request.
type answerError struct {
	service string
	url     string
	code    int // HTTP status of the answer; 0 if there was none
	err     error
}

func (e *answerError) Error() string { return fmt.Sprintf("%s %s: %v", e.service, e.url, e.err) }
func (e *answerError) Unwrap() error { return e.err }

// do sends a request to a service, and returns the body of the answer, which must have a type.
func (c *Client) do(ctx context.Context, service, address, contentType string) ([]byte, error) {
	fail := func(code int, err error) ([]byte, error) {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which answerError adds
		}
		return nil, &answerError{service, address, code, err}
	}
	sent, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fail(0, err)
	}
	if c.user != "" {
		query := sent.URL.Query()
		query.Set("user.name", c.user)
		sent.URL.RawQuery = query.Encode()
	}
	sent.Header.Set("Accept", contentType)
	answer, err := c.http.Do(sent)
	if err != nil {
		return fail(0, err)
	}
	defer answer.Body.Close()
	got, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if answer.StatusCode/100 != 2 {
		page, _ := io.ReadAll(io.LimitReader(answer.Body, maxPage))
		return fail(answer.StatusCode, errors.New(answer.Status+remoteMessage(page)))
	}
	if got != contentType {
		return fail(answer.StatusCode, fmt.Errorf("answered with %q, not %s", got, contentType))
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err == nil && len(data) > maxAnswer {
		err = fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	if err != nil {
		return fail(answer.StatusCode, err)
	}
	return data, nil
}

// remoteMessage returns the message of Hadoop in an error page, after a colon.
func remoteMessage(page []byte) string {
	var remote struct {
		RemoteException struct{ Message string }
	}
	if json.Unmarshal(page, &remote) != nil || remote.RemoteException.Message == "" {
		return ""
	}
	first, _, _ := strings.Cut(remote.RemoteException.Message, "\n")
	return ": " + strings.TrimPrefix(first, "java.lang.Exception: ")
}

// get requests an address, and decodes the JSON of the answer.
func (c *Client) get(ctx context.Context, service, address string, into any) error {
	data, err := c.do(ctx, service, address, "application/json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return &answerError{service, address, http.StatusOK, err}
	}
	return nil
}

// getManager requests a path from the resource manager that answers with JSON, and decodes it. One that is on standby
// answers with a page.
func (c *Client) getManager(ctx context.Context, path string, into any) error {
	var errs error
	for _, base := range c.managers {
		err := c.get(ctx, manager, base+path, into)
		if err == nil {
			return nil
		}
		errs = join(errs, err)
	}
	return errs
}

// join joins errors into one line.
func join(err, other error) error {
	if err == nil {
		return other
	}
	return fmt.Errorf("%w; %w", err, other)
}

// getHistory requests a path from the history server, and decodes the JSON. If the server does not know it, getHistory
// tries again for some seconds: it learns of a job a while after its end.
func (c *Client) getHistory(ctx context.Context, path string, into any) error {
	var err error
	poll(ctx, historyWait, func(ctx context.Context) (again bool) {
		err = c.get(ctx, history, c.history+"/ws/v1/history"+path, into)
		var answer *answerError
		return errors.As(err, &answer) && answer.code == http.StatusNotFound
	})
	return err
}

// poll calls ask until it returns false, for most at most.
func poll(ctx context.Context, most time.Duration, ask func(ctx context.Context) (again bool)) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for ask(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollInterval):
		}
	}
}
