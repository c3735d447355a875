package hadoop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"
)

const (
	// namePort is the port of a name node whose address has none.
	namePort = "8020"
	// dialTimeout bounds how long a name node may take to accept a connection.
	dialTimeout = 20 * time.Second
	// failoverWait bounds how long a call waits for a name node to become active. failoverPoll
	// is the pause between tries.
	failoverWait = time.Minute
	failoverPoll = 200 * time.Millisecond
	// hdfsBackoff is how long an hdfs.Client avoids an address after a failure. Each address is listed
	// so often, manyNodes in all, that one is always allowed.
	hdfsBackoff = 5 * time.Second
	manyNodes   = int(hdfsBackoff/failoverPoll) + 5
)

// nameNodes returns the addresses of the name nodes of a file system: those of a name service,
// or the single host. An empty host means the default file system.
func nameNodes(conf hadoopconf.HadoopConf, host string) ([]string, error) {
	if host == "" {
		name := conf["fs.defaultFS"]
		if name == "" {
			return nil, errors.New("no name node: write hdfs://HOST:PORT/path, or set HADOOP_CONF_DIR, as build/cluster/env.sh does after make cluster-up")
		}
		u, err := url.Parse(name)
		if err != nil || u.Host == "" || u.Scheme+"://" != Scheme {
			return nil, fmt.Errorf("the default file system is %s, expected %shost:port", name, Scheme)
		}
		host = u.Host
	}
	ids := conf["dfs.ha.namenodes."+host]
	if ids == "" {
		return []string{withPort(host)}, nil
	}
	var nodes []string
	for id := range strings.SplitSeq(ids, ",") {
		property := "dfs.namenode.rpc-address." + host + "." + strings.TrimSpace(id)
		address := conf[property]
		if address == "" {
			return nil, fmt.Errorf("name service %s: %s is not set", host, property)
		}
		nodes = append(nodes, withPort(address))
	}
	return nodes, nil
}

// withPort returns the address with namePort, unless it has a port.
func withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return net.JoinHostPort(address, namePort)
	}
	return address
}

// A nameClient is an hdfs.Client that can be closed while it waits for an answer.
type nameClient struct {
	*hdfs.Client
	end context.CancelFunc // closes the connection
}

// Close closes the connection at once. An hdfs.Client would first wait for the answer to its
// renewal of leases.
func (c *nameClient) Close() error {
	c.end()
	if err := c.Client.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// newClient connects to the active name node.
//
// If a name node is on standby, an hdfs.Client tries the next address, but does not wait: in a
// failover, until the next name node is active, all calls would fail, including those that
// keep the lock. Therefore the client gets each address many times, with a dialer that waits
// between tries.
func (f *FS) newClient() (*nameClient, error) {
	options := f.options
	nodes := len(options.Addresses)
	ctx, end := context.WithCancel(context.Background())
	d := &dialer{limits: &f.limits, ctx: ctx, nodes: nodes}
	options.NamenodeDialFunc = d.open
	err := f.identity.authenticate(&options)
	if err != nil {
		end()
		return nil, err
	}
	d.connect, options.NamenodeDialFunc = options.NamenodeDialFunc, d.dial
	if nodes > 1 {
		options.Addresses = slices.Repeat(options.Addresses, manyNodes/nodes+1)
	}
	client, err := hdfs.NewClient(options)
	if err != nil {
		end()
		return nil, err
	}
	return &nameClient{Client: client, end: end}, nil
}

// A dialer dials the name nodes of one client, one at a time.
type dialer struct {
	limits  *limits
	ctx     context.Context // of the client
	nodes   int
	connect dialFunc  // opens a connection and authenticates
	begun   time.Time // when the failover began
	last    time.Time // when a node was last dialled
	tries   int
}

// dial dials each node once without waiting, and then waits before each further try.
func (d *dialer) dial(_ context.Context, network, address string) (net.Conn, error) {
	now := time.Now()
	if now.Sub(d.last) > 2*hdfsBackoff {
		d.begun, d.tries = now, 0
	}
	if now.Sub(d.begun) > failoverWait {
		return nil, fmt.Errorf("none became active within %v", failoverWait)
	}
	if d.nodes > 1 && d.tries >= d.nodes && !d.limits.sleep(failoverPoll) {
		return nil, context.Canceled
	}
	d.tries++
	conn, err := d.connect(d.ctx, network, address)
	d.last = time.Now()
	return conn, err
}

// open opens a connection, which ends with the client.
func (d *dialer) open(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.limits.dial(ctx, network, address, dialTimeout)
	if err != nil {
		return nil, err
	}
	c := &nameConn{d.limits.limit(conn, func() time.Duration { return time.Duration(d.limits.call.Load()) }), address}
	context.AfterFunc(ctx, func() { c.Close() })
	return c, nil
}

// milliseconds returns the time that a property sets, or the other one.
func milliseconds(properties hadoopconf.HadoopConf, name string, other time.Duration) time.Duration {
	if ms, err := strconv.Atoi(properties[name]); err == nil && ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	return other
}

// newFS returns a file system with the options and the time limits that the configuration sets. An
// hdfs.Client reads on from another replica if a data node fails, but would wait forever for one that
// hangs, or for a name node.
func newFS(properties hadoopconf.HadoopConf, name string) *FS {
	f := &FS{options: hdfs.ClientOptionsFromConf(properties), name: name}
	f.limits.ctx, f.limits.interrupt = context.WithCancel(context.Background())
	f.limits.call.Store(int64(milliseconds(properties, "ipc.client.rpc-timeout.ms", callTimeout)))
	data := milliseconds(properties, "dfs.client.socket-timeout", socketTimeout)
	f.options.DatanodeDialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := f.limits.dial(ctx, network, address, data)
		if err != nil {
			return nil, err
		}
		c := f.limits.limit(conn, func() time.Duration { return data })
		c.received = &f.received
		return c, nil
	}
	return f
}

// A dialFunc opens a connection.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)
