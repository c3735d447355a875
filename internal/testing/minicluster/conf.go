//go:build unix

package minicluster

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"text/template"
)

// containerMB is the memory of a container, taskHeap the part of it that is the JVM's heap. The
// programs of a streaming job are outside the heap and are not counted.
const (
	containerMB = 512
	taskHeap    = "-Xmx400m"
	daemonHeap  = "-Xmx512m"
)

// quickStart is for JVMs that live for seconds: it reduces the time of a small job to two
// thirds. A big job may be faster with its own java.opts. Daemons of a small cluster need
// half the CPU time to start.
const quickStart = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"

// poll is the interval, in ms, at which jobs, clients and nodes poll one another. The
// defaults, 1 to 5 s, are for thousands of nodes.
const poll = 100

// The files of a cluster's folder, as templates.
var (
	//go:embed conf.txt
	confText string
	//go:embed hadoop.sh
	hadoopScript string
	//go:embed env.sh
	envScript string
	//go:embed log4j.properties
	log4j []byte
)

// openPackages are the packages on which Hadoop uses reflection, which Java 17 and later
// allow only with an option.
const openPackages = "java.io java.lang java.lang.reflect java.math java.net java.text java.util java.util.concurrent java.util.zip sun.security.util sun.security.x509"

// javaOpts returns the options that every JVM of the cluster needs.
func (c *Cluster) javaOpts() []string {
	opts := []string{
		"-Djava.net.preferIPv4Stack=true",
		"--add-exports=java.base/sun.net.dns=ALL-UNNAMED",
		"--add-exports=java.base/sun.net.util=ALL-UNNAMED",
	}
	for p := range strings.FieldsSeq(openPackages) {
		opts = append(opts, "--add-opens=java.base/"+p+"=ALL-UNNAMED")
	}
	if c.nodes() > 1 {
		opts = append(opts, "-Djdk.net.hosts.file="+c.hostsFile())
	}
	if c.secure() {
		// The KDC's own file does not limit the lifetime of tickets.
		opts = append(opts, "-Djava.security.krb5.conf="+c.path("kdc", "krb5.conf"), "-Djava.library.path="+filepath.Join(c.state.KerberosJars, nativeLibrary()))
	}
	return opts
}

// classPath returns the class path of clients, and of the daemons of node n. The configuration
// comes first: the folders webapps in it replace those that the jars lack.
func (c *Cluster) classPath(n int, separator string) string {
	return c.nodeDir(n).Conf + separator + filepath.Join(c.state.Jars, "*")
}

// expand executes a template of the cluster, for node n.
func (c *Cluster) expand(n int, name, text string) (string, error) {
	// An application master, another one that is just ending, and a task for each processor. The
	// scheduler divides memory only, which suffices for two jobs at a time.
	containers := 2 + max(2, runtime.NumCPU())
	owner, err := user.Current()
	if err != nil {
		return "", err
	}
	t, err := template.New(name).Funcs(template.FuncMap{"address": c.address, "nodePort": func(standard int) int {
		return c.port(onNode(n, standard))
	}}).Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, map[string]any{
		"Version": Version, "Dir": c.dir, "Host": host, "HA": c.state.HA, "NameService": nameService, "DefaultFS": c.DefaultFS(),
		"JavaHome": c.state.JavaHome, "JavaOpts": strings.Join(c.javaOpts(), " "), "QuickStart": quickStart, "TaskOpts": taskHeap + " " + quickStart,
		"ClassPath": c.classPath(1, string(os.PathListSeparator)), "ConfClassPath": c.classPath(1, ","),
		"Poll": poll, "TaskMB": containerMB, "Containers": containers,
		"Nodes": c.nodes(), "NodeHost": c.nodeHost(n), "NodeDir": c.nodeDir(n), "Replicas": min(2, c.nodes()),
		"NodeMB": (2*containers + c.nodes() - 1) / c.nodes() * containerMB,
		"Secure": c.secure(), "Protection": c.state.Protection, "Realm": realm, "Alice": alice, "ServiceKeytab": c.serviceKeytab(),
		"WebName": webName, "HDFSName": hdfsName, "YARNName": yarnName, "JobsName": jobsName, "Owner": owner.Username,
		"TicketSeconds": int(c.state.TicketLifetime.Seconds()), "RenewSeconds": int(10 * c.state.TicketLifetime.Seconds()),
	})
	return b.String(), err
}

// configuration returns the configuration files of node n, by name. Those of node 1 are also for
// the daemons that no node has, and for clients.
func (c *Cluster) configuration(n int) (map[string]*bytes.Buffer, error) {
	text, err := c.expand(n, "conf.txt", confText)
	if err != nil {
		return nil, err
	}
	files := make(map[string]*bytes.Buffer)
	var file *bytes.Buffer
	for line := range strings.Lines(text) {
		name, value, isProperty := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case name == "" || name == "#":
		case !isProperty:
			file = bytes.NewBufferString(xml.Header + "<configuration>\n")
			files[name] = file
		default:
			fmt.Fprintf(file, "  <property><name>%s</name><value>", name)
			if err := xml.EscapeText(file, []byte(value)); err != nil {
				return nil, err
			}
			file.WriteString("</value></property>\n")
		}
	}
	for _, file := range files {
		file.WriteString("</configuration>\n")
	}
	return files, nil
}

// writeFiles writes all files of the cluster's folder except data.
func (c *Cluster) writeFiles() error {
	for _, dir := range []string{
		"bin", "conf/webapps/hdfs", "logs", "run", "share/hadoop/tools/lib", "tmp",
	} {
		if err := os.MkdirAll(c.path(dir), 0o755); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	if err := c.writeHosts(); err != nil {
		return err
	}
	for n := range c.nodes() {
		if err := c.writeNode(n + 1); err != nil {
			return err
		}
	}
	type file struct {
		name, text string
		mode       os.FileMode
	}
	scripts := []file{{"env.sh", envScript, 0o644}, {"bin/hadoop", hadoopScript, 0o755}}
	if c.secure() {
		scripts = append(scripts, file{"krb5.conf", krb5Conf, 0o644})
	}
	for _, script := range scripts {
		text, err := c.expand(1, script.name, script.text)
		if err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
		if err := writeFile(c.path(script.name), []byte(text), script.mode); err != nil {
			return err
		}
	}
	jar := filepath.Join(c.state.Jars, "hadoop-streaming-"+Version+".jar")
	for path, target := range map[string]string{
		c.path("bin", "hdfs"): "hadoop", c.path("bin", "yarn"): "hadoop", c.path("bin", "mapred"): "hadoop",
		c.path("share/hadoop/tools/lib", filepath.Base(jar)): jar,
		c.StreamingJar(): jar,
	} {
		os.Remove(path) // a link of an earlier run
		if err := os.Symlink(target, path); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	return nil
}

// writeNode creates the folders of node n and writes its configuration.
func (c *Cluster) writeNode(n int) error {
	dir := c.nodeDir(n)
	for _, name := range []string{filepath.Join(dir.Conf, "webapps", "datanode"), dir.Local, dir.Logs} {
		if err := os.MkdirAll(name, 0o755); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	files, err := c.configuration(n)
	if err != nil {
		return fmt.Errorf("cluster: configuration: %w", err)
	}
	files["log4j.properties"] = bytes.NewBuffer(log4j)
	for name, content := range files {
		if err := writeFile(filepath.Join(dir.Conf, name), content.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
