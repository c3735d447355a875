//go:build unix

package minicluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"regexp"
	"slices"
	"strconv"
	"time"
)

const (
	readyPoll   = 200 * time.Millisecond
	httpTimeout = time.Minute
)

// errSlow is the cause of a context that has ended because the time is up.
var errSlow = errors.New("not ready in time")

// waitReady waits until daemons are ready. It fails as soon as one of them has ended.
func (c *Cluster) waitReady(ctx context.Context, which []Daemon) error {
	for _, d := range which {
		for {
			// In this order: if d ends after this check, ready fails, and the next round
			// finds that it has ended.
			dead := slices.IndexFunc(which, func(d Daemon) bool { return c.pid(d) == 0 })
			if dead >= 0 {
				return c.failed(which[dead], errors.New("has ended"))
			}
			why := c.ready(ctx, d)
			if why == nil {
				break
			}
			if err := sleep(ctx, readyPoll); errors.Is(err, errSlow) {
				return c.failed(d, fmt.Errorf("%w: %w", err, why))
			} else if err != nil {
				return fmt.Errorf("cluster: wait for %s: %w", d, err)
			}
		}
	}
	return nil
}

// failed returns the error of a daemon, with the last lines of its log.
func (c *Cluster) failed(d Daemon, why error) error {
	b, err := os.ReadFile(c.Log(d))
	if err != nil {
		return fmt.Errorf("cluster: %s: %w (no log: %w)", d, why, err)
	}
	return fmt.Errorf("cluster: %s: %w; %s ends:\n%s", d, why, c.Log(d), lastLines(b))
}

// ready returns nil if a daemon is ready, or else an error that describes what is missing.
func (c *Cluster) ready(ctx context.Context, d Daemon) error {
	switch d.first() {
	case NameNode, NameNode2: // all data nodes are alive, and safe mode is off
		return c.check(ctx, d, "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState", fmt.Sprintf(`"FSState" : "Operational"|"NumLiveDataNodes" : %d,`, c.nodes()), 2)
	case DataNode: // the name node would count a dead one as alive for a while
		return c.check(ctx, d, "/jmx?qry=Hadoop:service=DataNode,name=DataNodeInfo", `ActorState\\":\\"RUNNING\\"`, len(c.nameNodes()))
	case ResourceManager:
		return c.check(ctx, d, "/ws/v1/cluster/metrics", fmt.Sprintf(`"activeNodes":%d,`, c.nodes()), 1)
	case NodeManager:
		return c.nodeManagerReady(ctx, d)
	case KDC: // the last that it does is to write the keytab
		if log, err := os.ReadFile(c.Log(d)); err != nil || !bytes.Contains(log, []byte("Standalone MiniKdc Running")) {
			return errors.Join(errors.New("its log does not say that it runs"), err)
		}
		return nil
	default:
		return c.check(ctx, d, "/ws/v1/history/info", `"startedOn"`, 1)
	}
}

// check requests a page of a daemon's web address, and returns an error unless a pattern matches
// n times in it.
func (c *Cluster) check(ctx context.Context, d Daemon, page, pattern string, n int) error {
	body, err := c.request(ctx, http.MethodGet, c.Web(d)+page)
	if err == nil && len(regexp.MustCompile(pattern).FindAll(body, -1)) != n {
		err = fmt.Errorf("%s%s: expected %d× %s, found %s", c.Web(d), page, n, pattern, body)
	}
	return err
}

// nodeManagerReady requires that the node of a NodeManager is healthy, and that the
// ResourceManager has received an update from it since its start: a node that has died counts as
// active for a while.
func (c *Cluster) nodeManagerReady(ctx context.Context, d Daemon) error {
	const page, since = "/ws/v1/node/info", `"nmStartupTime":(\d+)`
	if err := c.check(ctx, d, page, `"nodeHealthy":true|`+since, 2); err != nil {
		return err
	}
	own, err := c.request(ctx, http.MethodGet, c.Web(d)+page)
	if err != nil {
		return err
	}
	known, err := c.request(ctx, http.MethodGet, c.Web(ResourceManager)+"/ws/v1/cluster/nodes/"+fmt.Sprintf("%s:%d", c.nodeHost(d.node()), c.port(onNode(d.node(), nodePort))))
	if err != nil {
		return err
	}
	number := func(pattern string, in []byte) (n int) {
		if m := regexp.MustCompile(pattern).FindSubmatch(in); m != nil {
			n, _ = strconv.Atoi(string(m[1])) // only digits
		}
		return n
	}
	if !regexp.MustCompile(`"state":"RUNNING"`).Match(known) || number(`"lastHealthUpdate":(\d+)`, known) < number(since, own) {
		return fmt.Errorf("the ResourceManager does not know yet that it runs: %s", known)
	}
	return nil
}

// makeFolders creates the folders that every user of the file system expects: /tmp and the
// staging folder for all users, and a home for the user who started it.
func (c *Cluster) makeFolders(ctx context.Context) error {
	u, err := user.Current()
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	active, err := c.Active(ctx)
	if err != nil {
		return err
	}
	superuser, ops := u.Username, []string{"MKDIRS", "SETPERMISSION"}
	if c.secure() {
		superuser, ops = "hdfs", append(ops, "SETOWNER")
	}
	type folder struct{ path, mode, owner string }
	folders := []folder{
		{"/tmp", "1777", superuser},
		{"/tmp/hadoop-yarn", "755", superuser},
		{"/tmp/hadoop-yarn/staging", "1777", superuser},
		// The history server makes the directory above its inbox inaccessible to other
		// users.
		{"/tmp/hadoop-yarn/staging/history", "755", superuser},
		{"/user", "755", superuser},
		{"/user/" + u.Username, "755", u.Username},
	}
	if c.secure() { // clients that do not know Hadoop's name of alice have their own
		folders = append(folders, folder{"/user/" + alice, "755", u.Username})
	}
	for _, f := range folders {
		for _, op := range ops {
			q := url.Values{"op": {op}, "permission": {f.mode}, "owner": {f.owner}, "user.name": {superuser}}
			if _, err := c.request(ctx, http.MethodPut, c.Web(active)+"/webhdfs/v1"+f.path+"?"+q.Encode()); err != nil {
				return fmt.Errorf("cluster: make %s: %w", f.path, err)
			}
		}
	}
	return nil
}

// request makes a request without a body, and returns the body of the response.
func (c *Cluster) request(ctx context.Context, method, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, httpTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	answer, err := c.do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", address, answer.Status)
	}
	return io.ReadAll(answer.Body)
}
