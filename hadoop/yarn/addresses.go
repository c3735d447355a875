package yarn

import (
	"cmp"
	"net"
	"strings"
)

// addresses contains the addresses of a cluster's services, from its configuration.
type addresses struct {
	managers []string // resource managers, http://host:port; several with high availability
	history  string
	node     string // http:// scheme for a node manager's host:port: http:// or https://
}

// findAddresses returns the addresses in conf, or Hadoop's defaults.
func findAddresses(conf map[string]string) addresses {
	get := func(name string) string { return strings.TrimSpace(conf[name]) }
	var a addresses

	node, key, port := "http://", "yarn.resourcemanager.webapp.address", "8088"
	if get("yarn.http.policy") == "HTTPS_ONLY" {
		node, key, port = "https://", "yarn.resourcemanager.webapp.https.address", "8090"
	}
	a.node = node
	suffixes := []string{""}
	if get("yarn.resourcemanager.ha.enabled") == "true" {
		suffixes = nil
		for id := range strings.SplitSeq(get("yarn.resourcemanager.ha.rm-ids"), ",") {
			suffixes = append(suffixes, "."+strings.TrimSpace(id))
		}
	}
	for _, suffix := range suffixes {
		address := cmp.Or(get(key+suffix), get("yarn.resourcemanager.hostname"+suffix))
		a.managers = append(a.managers, a.node+reachable(address, port))
	}

	scheme, key, port := "http://", "mapreduce.jobhistory.webapp.address", "19888"
	if get("mapreduce.jobhistory.http.policy") == "HTTPS_ONLY" {
		scheme, key, port = "https://", "mapreduce.jobhistory.webapp.https.address", "19890"
	}
	address := get(key)
	if address == "" {
		// Use the host of the history server's other address, but not its port.
		if host, _, err := net.SplitHostPort(get("mapreduce.jobhistory.address")); err == nil {
			address = host
		}
	}
	a.history = scheme + reachable(address, port)

	return a
}

// reachable completes an address to host:port. An address that means all interfaces becomes
// the address of this machine.
func reachable(address, port string) string {
	host := address
	if h, p, err := net.SplitHostPort(address); err == nil {
		host, port = h, p
	}
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
