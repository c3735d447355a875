package yarn

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// confFiles are the files that Load reads; later ones win.
var confFiles = []string{"core-site.xml", "mapred-site.xml", "yarn-site.xml"}

// maxExpansions bounds the ${…} of one value, as in Hadoop: a property may name
// itself.
const maxExpansions = 20

// maxValue bounds the length of a value with its ${…} put in: one that names
// itself twice would double twenty times.
const maxValue = 1 << 16

// Load reads core-site.xml, mapred-site.xml and yarn-site.xml of a directory,
// and puts in what ${name} stands for: another property, or a variable of the
// environment as ${env.NAME}, ${env.NAME-default} or ${env.NAME:-default}. What
// is not known stays as it is. A file that is not there is passed over; a
// directory without any is an error. Includes are not followed.
func Load(dir string) (map[string]string, error) {
	raw := make(map[string]string)
	found := false
	for _, name := range confFiles {
		file, err := os.Open(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		properties, err := parseXML(file)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		maps.Copy(raw, properties)
		found = true
	}
	if !found {
		return nil, fmt.Errorf("%s: no %s", dir, strings.Join(confFiles, ", "))
	}
	conf := make(map[string]string, len(raw))
	for name, value := range raw {
		conf[name] = expand(raw, value)
	}
	return conf, nil
}

// parseXML reads the properties of one file.
func parseXML(r io.Reader) (map[string]string, error) {
	var file struct {
		Property []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"property"`
	}
	if err := xml.NewDecoder(r).Decode(&file); err != nil {
		return nil, err
	}
	properties := make(map[string]string)
	for _, p := range file.Property {
		if name := strings.TrimSpace(p.Name); name != "" {
			properties[name] = p.Value
		}
	}
	return properties, nil
}

// reference is a ${name} with none inside it.
var reference = regexp.MustCompile(`\$\{[^${}\s]+\}`)

// expand puts in what the ${…} of a value stand for. An inner one comes before
// the one around it: ${a.${b}}.
func expand(conf map[string]string, value string) string {
	for range maxExpansions {
		expanded := reference.ReplaceAllStringFunc(value, func(ref string) string {
			if text, known := lookup(conf, ref[2:len(ref)-1]); known {
				return text
			}
			return ref
		})
		if expanded == value || len(expanded) > maxValue {
			break
		}
		value = expanded
	}
	return value
}

// lookup finds what the name in a ${…} stands for.
func lookup(conf map[string]string, name string) (value string, known bool) {
	variable, ok := strings.CutPrefix(name, "env.")
	if !ok {
		value, known = conf[name]
		return value, known
	}
	variable, other, hasOther := strings.Cut(variable, "-")
	variable, orEmpty := strings.CutSuffix(variable, ":")
	value, known = os.LookupEnv(variable)
	if hasOther && (!known || orEmpty && value == "") {
		return other, true
	}
	return value, known
}

// addresses are the pages of a cluster, from its configuration.
type addresses struct {
	managers []string // resource managers, http://host:port; several with HA
	history  string
	node     string   // http:// or https://, before a node manager's host:port
	logDirs  []string // of node managers, in their own file system
}

// findAddresses reads the addresses, or takes Hadoop's defaults.
func findAddresses(conf map[string]string) addresses {
	get := func(name string) string { return strings.TrimSpace(expand(conf, conf[name])) }
	var a addresses

	node, key, port := "http://", "yarn.resourcemanager.webapp.address", "8088"
	if get("yarn.http.policy") == "HTTPS_ONLY" {
		node, key, port = "https://", "yarn.resourcemanager.webapp.https.address", "8090"
	}
	a.node = node
	suffixes := []string{""}
	if get("yarn.resourcemanager.ha.enabled") == "true" {
		if ids := fields(get("yarn.resourcemanager.ha.rm-ids")); len(ids) > 0 {
			suffixes = nil
			for _, id := range ids {
				suffixes = append(suffixes, "."+id)
			}
		}
	}
	for _, suffix := range suffixes {
		address := get(key + suffix)
		if address == "" {
			address = get("yarn.resourcemanager.hostname" + suffix)
		}
		a.managers = append(a.managers, a.node+reachable(address, port))
	}

	scheme, key, port := "http://", "mapreduce.jobhistory.webapp.address", "19888"
	if get("mapreduce.jobhistory.http.policy") == "HTTPS_ONLY" {
		scheme, key, port = "https://", "mapreduce.jobhistory.webapp.https.address", "19890"
	}
	address := get(key)
	if address == "" {
		// The port is that of another service, the host is the same.
		if host, _, err := net.SplitHostPort(get("mapreduce.jobhistory.address")); err == nil {
			address = host
		}
	}
	a.history = scheme + reachable(address, port)

	for _, dir := range fields(get("yarn.nodemanager.log-dirs")) {
		if !strings.Contains(dir, "${") {
			a.logDirs = append(a.logDirs, strings.TrimPrefix(dir, "file://"))
		}
	}
	return a
}

// reachable completes an address to host:port, and takes this machine for one
// that means every interface.
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

// fields splits a list at commas.
func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
}
