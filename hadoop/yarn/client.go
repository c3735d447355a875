// Package yarn reads the state of MapReduce jobs from a Hadoop cluster over HTTP. The resource
// manager describes applications and queues, the application master a running job, the history
// server a job that has ended; the node managers have the logs of tasks. The package can also
// kill an application.
//
// It knows only Hadoop: not who submits the jobs, not what they compute, and nothing of files
// in HDFS.
//
//	cluster                   ws/v1/cluster/…                  resource manager
//	job that is running       proxy/APP/ws/v1/mapreduce/…      its application master
//	job that has ended        ws/v1/history/mapreduce/…        history server
//	logs                      ws/v1/node/containerlogs/…       node manager
//	aggregated logs           ws/v1/history/containerlogs/…    history server
package yarn

import (
	"bytes"
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
	"sync"
	"time"
)

const (
	dialTimeout    = 3 * time.Second  // a node may be unreachable from here
	requestTimeout = 10 * time.Second // including the answer
	checkTimeout   = 10 * time.Second // of all requests of Check
	historyWait    = 10 * time.Second // the history server looks for new jobs on request, but the master writes the history late
	pollInterval   = 200 * time.Millisecond

	maxAnswer = 32 << 20 // bytes; a task takes about 300
	maxLog    = 64 << 10 // bytes that are read from the end of a log
	maxPage   = 1 << 10  // bytes that are read from an error page
)

// Client sends requests to the services of a cluster. It is safe for concurrent use. The
// timeout of a request is ten seconds, or less by its context.
type Client struct {
	// Command is the hadoop command with which Kill kills a job if the resource manager
	// refuses to. It may be empty.
	Command string

	addresses
	user string
	http *http.Client

	mu     sync.Mutex
	active string // address of the active one of several resource managers
}

// New returns a client of the cluster with the given configuration: the properties of
// core-site.xml, yarn-site.xml and mapred-site.xml (see conf.Load). The default addresses are
// Hadoop's, on this machine. user is the name that requests send to a cluster without
// authentication; it may be empty.
func New(conf map[string]string, user string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
	transport.Proxy = nil // as in Hadoop's client: http_proxy is not for the services of a cluster
	return &Client{
		addresses: findAddresses(conf),
		user:      user,
		http: &http.Client{
			Transport: transport,
			Timeout:   requestTimeout,
			// The proxy redirects requests for a job that is not running to a web page.
			CheckRedirect: func(r *http.Request, via []*http.Request) error {
				if strings.HasPrefix(via[0].URL.Path, "/proxy/") {
					return http.ErrUseLastResponse
				}
				if len(via) > 3 {
					return errors.New("too many redirections")
				}
				return nil
			},
		},
	}
}

// WrapTransport replaces the transport of all requests by the result of wrap, for example one that
// authenticates them.
func (c *Client) WrapTransport(wrap func(http.RoundTripper) http.RoundTripper) {
	c.http.Transport = wrap(c.http.Transport)
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

// code returns the HTTP status in an error, or 0 if there was no answer.
func code(err error) int {
	var a *answerError
	if errors.As(err, &a) {
		return a.code
	}
	return 0
}

// A request is a request to a service.
type request struct {
	service     string
	method      string
	address     string
	body        string
	contentType string // the body and the answer have it
	limit       int64  // the most bytes of the answer
	cut         bool   // a longer answer is truncated; otherwise it is an error
}

// do sends a request and returns the body of the answer.
func (c *Client) do(ctx context.Context, r request) ([]byte, error) {
	fail := func(code int, err error) ([]byte, error) {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which answerError adds
		}
		return nil, &answerError{r.service, r.address, code, err}
	}
	full := r.address
	if c.user != "" {
		separator := "?"
		if strings.Contains(full, "?") {
			separator = "&"
		}
		full += separator + "user.name=" + url.QueryEscape(c.user)
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, full, strings.NewReader(r.body))
	if err != nil {
		return fail(0, err)
	}
	sent.Header.Set("Accept", r.contentType)
	if r.body != "" {
		sent.Header.Set("Content-Type", r.contentType)
	}
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
	if got != r.contentType {
		return fail(answer.StatusCode, fmt.Errorf("answered with %q, not %s", got, r.contentType))
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, r.limit+1))
	if err != nil {
		return fail(answer.StatusCode, err)
	}
	if int64(len(data)) > r.limit {
		if !r.cut {
			return fail(answer.StatusCode, fmt.Errorf("the answer has more than %d bytes", r.limit))
		}
		data = data[:r.limit]
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
	data, err := c.do(ctx, request{service: service, method: http.MethodGet, address: address, contentType: "application/json", limit: maxAnswer})
	if err != nil {
		return err
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(into); err != nil {
		return &answerError{service, address, http.StatusOK, err}
	}
	return nil
}

// onManager calls ask with the address of the active resource manager. If the one that was
// active does not answer any more, it finds the active one and tries again.
func (c *Client) onManager(ctx context.Context, ask func(base string) error) error {
	if len(c.managers) == 1 {
		return ask(c.managers[0])
	}
	c.mu.Lock()
	base := c.active
	c.mu.Unlock()
	if base != "" {
		if err := ask(base); err == nil || code(err) != 0 || ctx.Err() != nil {
			return err
		}
	}
	base, err := c.findActive(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.active = base
	c.mu.Unlock()
	return ask(base)
}

// findActive finds the active resource manager by asking all of them.
func (c *Client) findActive(ctx context.Context) (string, error) {
	var errs []error
	for _, base := range c.managers {
		var info struct {
			ClusterInfo struct{ HAState string }
		}
		err := c.get(ctx, manager, base+"/ws/v1/cluster/info", &info)
		if err == nil && info.ClusterInfo.HAState == "ACTIVE" {
			return base, nil
		}
		if err == nil {
			err = &answerError{manager, base, http.StatusOK, fmt.Errorf("it is %s", strings.ToLower(info.ClusterInfo.HAState))}
		}
		errs = append(errs, err)
	}
	return "", oneLine(errs)
}

// oneLine joins errors into one line.
func oneLine(errs []error) error {
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}

// getManager requests a path from the active resource manager, and decodes the JSON of the
// answer.
func (c *Client) getManager(ctx context.Context, path string, into any) error {
	return c.onManager(ctx, func(base string) error { return c.get(ctx, manager, base+path, into) })
}

// sleep waits for pollInterval. It returns false if the context is done.
func sleep(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pollInterval):
		return true
	}
}

// moment converts Hadoop's milliseconds to a time. 0 or -1 means no time.
func moment(milliseconds int64) time.Time {
	if milliseconds <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(milliseconds)
}
