package minicluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"slices"
	"time"
)

const (
	readyPoll   = 200 * time.Millisecond
	httpTimeout = 10 * time.Second
	// logLines is the number of log lines that an error contains.
	logLines = 15
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

// ready returns nil if a daemon is ready, or else an error that describes what is missing.
func (c *Cluster) ready(ctx context.Context, d Daemon) error {
	switch d {
	case NameNode, NameNode2:
		return c.nameNodeReady(ctx, d)
	case DataNode:
		return c.dataNodeReady(ctx)
	case ResourceManager:
		return c.resourceManagerReady(ctx)
	case NodeManager:
		return c.nodeManagerReady(ctx)
	default:
		return c.historyReady(ctx)
	}
}

// failed returns the error of a daemon, with the last lines of its log.
func (c *Cluster) failed(d Daemon, why error) error {
	b, err := os.ReadFile(c.Log(d))
	if err != nil {
		return fmt.Errorf("cluster: %s: %w (no log: %w)", d, why, err)
	}
	return fmt.Errorf("cluster: %s: %w; %s ends:\n%s", d, why, c.Log(d), lastLines(b, logLines))
}

// nameNodeReady requires a live data node, and that safe mode is off.
func (c *Cluster) nameNodeReady(ctx context.Context, d Daemon) error {
	var beans struct {
		Beans []struct {
			FSState          string
			NumLiveDataNodes int
		} `json:"beans"`
	}
	err := getJSON(ctx, c.Web(d)+"/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState", &beans)
	if err != nil {
		return err
	}
	if len(beans.Beans) != 1 || beans.Beans[0].NumLiveDataNodes != 1 || beans.Beans[0].FSState != "Operational" {
		return fmt.Errorf("state %+v, want one live data node and Operational", beans.Beans)
	}
	return nil
}

// dataNodeReady asks the data node itself, because the name node counts a dead one as alive
// for a while.
func (c *Cluster) dataNodeReady(ctx context.Context) error {
	var beans struct {
		Beans []struct {
			BPServiceActorInfo string // JSON in a string
		} `json:"beans"`
	}
	err := getJSON(ctx, c.Web(DataNode)+"/jmx?qry=Hadoop:service=DataNode,name=DataNodeInfo", &beans)
	if err != nil {
		return err
	}
	var actors []struct{ ActorState string }
	if len(beans.Beans) == 1 {
		if err := json.Unmarshal([]byte(beans.Beans[0].BPServiceActorInfo), &actors); err != nil {
			return err
		}
	}
	running := 0
	for _, a := range actors {
		if a.ActorState == "RUNNING" {
			running++
		}
	}
	if n := len(c.nameNodes()); running != n {
		return fmt.Errorf("block pools %+v, want %d that are RUNNING", actors, n)
	}
	return nil
}

// resourceManagerReady requires one active node.
func (c *Cluster) resourceManagerReady(ctx context.Context) error {
	var metrics struct {
		ClusterMetrics struct {
			ActiveNodes int `json:"activeNodes"`
		} `json:"clusterMetrics"`
	}
	if err := getJSON(ctx, c.Web(ResourceManager)+"/ws/v1/cluster/metrics", &metrics); err != nil {
		return err
	}
	if n := metrics.ClusterMetrics.ActiveNodes; n != 1 {
		return fmt.Errorf("%d active nodes, want 1", n)
	}
	return nil
}

// nodeManagerReady requires that the node is healthy, and that the ResourceManager has
// received an update from it since its start: a node that has died counts as active for a
// while.
func (c *Cluster) nodeManagerReady(ctx context.Context) error {
	var own struct {
		NodeInfo struct {
			Healthy bool   `json:"nodeHealthy"`
			Report  string `json:"healthReport"`
			Started int64  `json:"nmStartupTime"`
		} `json:"nodeInfo"`
	}
	if err := getJSON(ctx, c.Web(NodeManager)+"/ws/v1/node/info", &own); err != nil {
		return err
	}
	if !own.NodeInfo.Healthy {
		return fmt.Errorf("the node is not healthy: %s", own.NodeInfo.Report)
	}
	var known struct {
		Node struct {
			State  string `json:"state"`
			Update int64  `json:"lastHealthUpdate"`
		} `json:"node"`
	}
	if err := getJSON(ctx, c.Web(ResourceManager)+"/ws/v1/cluster/nodes/"+c.address(portContainers), &known); err != nil {
		return err
	}
	if known.Node.State != "RUNNING" || known.Node.Update < own.NodeInfo.Started {
		return fmt.Errorf("the ResourceManager does not know yet that it runs (state %s)", known.Node.State)
	}
	return nil
}

// historyReady requires a response.
func (c *Cluster) historyReady(ctx context.Context) error {
	var info struct {
		HistoryInfo struct {
			StartedOn int64 `json:"startedOn"`
		} `json:"historyInfo"`
	}
	return getJSON(ctx, c.Web(JobHistoryServer)+"/ws/v1/history/info", &info)
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
	for _, f := range []struct{ path, mode string }{
		{"/tmp", "1777"},
		{"/tmp/hadoop-yarn", "755"},
		{"/tmp/hadoop-yarn/staging", "1777"},
		// The history server makes the directory above its inbox inaccessible to other
		// users.
		{"/tmp/hadoop-yarn/staging/history", "755"},
		{"/user", "755"},
		{"/user/" + u.Username, "755"},
	} {
		for _, op := range []string{"MKDIRS", "SETPERMISSION"} {
			q := url.Values{"op": {op}, "permission": {f.mode}, "user.name": {u.Username}}
			if err := request(ctx, http.MethodPut, c.Web(active)+"/webhdfs/v1"+f.path+"?"+q.Encode(), nil); err != nil {
				return fmt.Errorf("cluster: make %s: %w", f.path, err)
			}
		}
	}
	return nil
}

// getJSON requests and decodes a JSON document.
func getJSON(ctx context.Context, address string, v any) error {
	return request(ctx, http.MethodGet, address, v)
}

// request makes a request without a body, and decodes the response unless v is nil.
func request(ctx context.Context, method, address string, v any) error {
	ctx, cancel := context.WithTimeout(ctx, httpTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	// Without a proxy, whatever the environment contains, because this is loopback.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, answer.Status)
	}
	if v == nil {
		return nil
	}
	if err := json.NewDecoder(answer.Body).Decode(v); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}
