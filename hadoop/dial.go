package hadoop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"
)

const (
	// namePort is the port of a name node that is named without one.
	namePort = "8020"
	// dialTimeout is how long a name node may take to answer a connection.
	dialTimeout = 20 * time.Second
	// failoverWait bounds how long a call waits for a name node to become
	// active, failoverPoll is how often it asks them.
	failoverWait = time.Minute
	failoverPoll = 200 * time.Millisecond
	// hdfsBackoff is how long hdfs.Client leaves an address alone that has
	// failed. It takes longer to ask manyNodes, so that there is always one left.
	hdfsBackoff = 5 * time.Second
	manyNodes   = int(hdfsBackoff/failoverPoll) + 5
)

// nameNodes are the addresses of the name nodes of a file system: those of a name
// service, or the one host. No host means the default file system.
func nameNodes(conf hadoopconf.HadoopConf, host string) ([]string, error) {
	if host == "" {
		name := conf["fs.defaultFS"]
		if name == "" {
			name = conf["fs.default.name"] // as it was called in Hadoop 1
		}
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

// withPort is an address with Hadoop's port, if it has none.
func withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return net.JoinHostPort(address, namePort)
	}
	return address
}

// newClient connects to the active one of the name nodes.
//
// An hdfs.Client whose name node is on standby goes on to the next address, but
// does not wait: between the end of one active name node and the beginning of the
// next, its calls would fail, and so would the lock's. Hence it gets each address
// many times, and a dialer that takes its time.
func newClient(options hdfs.ClientOptions) (*hdfs.Client, error) {
	if nodes := options.Addresses; len(nodes) > 1 {
		d := &dialer{nodes: len(nodes)}
		options.NamenodeDialFunc = d.dial
		options.Addresses = slices.Repeat(nodes, manyNodes/len(nodes)+1)
	}
	return hdfs.NewClient(options)
}

// A dialer dials the name nodes of one client, one at a time.
type dialer struct {
	nodes int
	begun time.Time // of the fail-over
	last  time.Time // when a node was dialled
	tries int
}

// dial dials at once what has to be dialled only once, and then waits before
// each try.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	now := time.Now()
	if now.Sub(d.last) > 2*hdfsBackoff {
		d.begun, d.tries = now, 0
	}
	if now.Sub(d.begun) > failoverWait {
		return nil, fmt.Errorf("none became active within %v", failoverWait)
	}
	if d.tries >= d.nodes {
		time.Sleep(failoverPoll)
	}
	d.tries++
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
	d.last = time.Now()
	return conn, err
}
