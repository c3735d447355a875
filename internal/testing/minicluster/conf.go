package minicluster

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"text/template"
)

// The memory of a container, and the part of it that is the JVM's heap. The programs of a
// streaming job are outside the heap and are not counted.
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
const poll = "100"

var (
	//go:embed hadoop.sh
	hadoopScript string
	//go:embed env.sh
	envScript string
	//go:embed log4j.properties
	log4j []byte
)

// A property is one setting of Hadoop.
type property struct {
	Name  string `xml:"name"`
	Value string `xml:"value"`
}

// configuration is a configuration file of Hadoop.
type configuration struct {
	XMLName    xml.Name   `xml:"configuration"`
	Properties []property `xml:"property"`
}

// openPackages are the packages on which Hadoop uses reflection, which Java 17 and later
// allow only with an option.
var openPackages = []string{
	"java.io", "java.lang", "java.lang.reflect", "java.math", "java.net",
	"java.text", "java.util", "java.util.concurrent", "java.util.zip",
	"sun.security.util", "sun.security.x509",
}

// javaOpts returns the options that every JVM of the cluster needs.
func javaOpts() []string {
	opts := []string{"-Djava.net.preferIPv4Stack=true"}
	for _, p := range openPackages {
		opts = append(opts, "--add-opens=java.base/"+p+"=ALL-UNNAMED")
	}
	return append(opts,
		"--add-exports=java.base/sun.net.dns=ALL-UNNAMED",
		"--add-exports=java.base/sun.net.util=ALL-UNNAMED")
}

// classPath returns the class path of daemons and clients. The configuration comes first:
// the folders webapps in it replace those that the jars lack.
func (c *Cluster) classPath() []string {
	return []string{c.ConfDir(), filepath.Join(c.state.Jars, "*")}
}

// coreSite returns the properties of core-site.xml.
func (c *Cluster) coreSite() []property {
	return []property{
		{"fs.defaultFS", c.DefaultFS()},
		{"hadoop.tmp.dir", c.path("tmp")},
	}
}

// hdfsSite returns the properties of hdfs-site.xml.
func (c *Cluster) hdfsSite() []property {
	names := []property{
		{"dfs.namenode.name.dir", "file://" + c.path("hdfs", "name")},
		{"dfs.namenode.rpc-address", c.address(portNameNode)},
		{"dfs.namenode.http-address", c.address(portNameNodeWeb)},
	}
	if c.state.HA {
		names = c.haSite()
	}
	return append(names, []property{
		{"dfs.datanode.data.dir", "file://" + c.path("hdfs", "data")},
		{"dfs.datanode.hostname", host},
		{"dfs.datanode.address", c.address(portDataNode)},
		{"dfs.datanode.http.address", c.address(portDataNodeWeb)},
		{"dfs.datanode.ipc.address", c.address(portDataNodeIPC)},
		{"dfs.replication", "1"},
		// Allow tests to create files of several blocks without creating big files.
		{"dfs.namenode.fs-limits.min-block-size", "512"},
		// A data node on this machine reports a block within milliseconds: a client that
		// closes a file need not wait 400 ms for that.
		{"dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "10"},
		{"dfs.client.block.write.locateFollowingBlock.retries", "11"},
		// Leave safe mode as soon as all blocks are there.
		{"dfs.namenode.safemode.extension", "0"},
		// A data node that has died is declared dead after 30 s: 10 heartbeats and two
		// rechecks.
		{"dfs.heartbeat.interval", "1"},
		{"dfs.namenode.heartbeat.recheck-interval", "10000"},
	}...)
}

// yarnSite returns the properties of yarn-site.xml.
func (c *Cluster) yarnSite() []property {
	// An application master, another one that is just ending, and a task for each
	// processor.
	containers := 2 + max(2, runtime.NumCPU())
	return []property{
		{"yarn.resourcemanager.hostname", host},
		{"yarn.resourcemanager.address", c.address(portClients)},
		{"yarn.resourcemanager.scheduler.address", c.address(portScheduler)},
		{"yarn.resourcemanager.resource-tracker.address", c.address(portTracker)},
		{"yarn.resourcemanager.admin.address", c.address(portAdmin)},
		{"yarn.resourcemanager.webapp.address", c.address(portResourceManager)},
		{"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", poll},
		{"yarn.resourcemanager.connect.retry-interval.ms", "1000"},
		{"yarn.nm.liveness-monitor.expiry-interval-ms", "30000"},
		{"yarn.am.liveness-monitor.expiry-interval-ms", "30000"},
		{"yarn.nodemanager.hostname", host},
		{"yarn.nodemanager.address", c.address(portContainers)},
		{"yarn.nodemanager.localizer.address", c.address(portLocalizer)},
		{"yarn.nodemanager.webapp.address", c.address(portNodeManager)},
		{"yarn.nodemanager.collector-service.address", c.address(portCollector)},
		{"yarn.nodemanager.local-dirs", c.path("local")},
		{"yarn.nodemanager.log-dirs", c.path("logs", "userlogs")},
		{"yarn.nodemanager.aux-services", "mapreduce_shuffle"},
		// The scheduler divides memory only: two jobs can run at a time.
		{"yarn.nodemanager.resource.memory-mb", strconv.Itoa(2 * containers * containerMB)},
		{"yarn.nodemanager.resource.cpu-vcores", strconv.Itoa(containers)},
		// How long a NodeManager that ends waits for its tasks, minus 2 s.
		{"yarn.nodemanager.process-kill-wait.ms", "1000"},
		{"yarn.scheduler.minimum-allocation-mb", "256"},
		{"yarn.nodemanager.pmem-check-enabled", "false"},
		{"yarn.nodemanager.vmem-check-enabled", "false"},
		{"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "99.9"},
		{"yarn.application.classpath", strings.Join(c.classPath(), ",")},
	}
}

// mapredSite returns the properties of mapred-site.xml. The options that Java needs are in
// the administrator's options, so that a job's own options do not replace them.
func (c *Cluster) mapredSite() []property {
	opts := strings.Join(javaOpts(), " ")
	memory := strconv.Itoa(containerMB)
	return []property{
		{"mapreduce.framework.name", "yarn"},
		{"mapreduce.application.classpath", strings.Join(c.classPath(), ",")},
		{"mapreduce.jobhistory.address", c.address(portHistory)},
		{"mapreduce.jobhistory.admin.address", c.address(portHistoryAdmin)},
		{"mapreduce.jobhistory.webapp.address", c.address(portHistoryWeb)},
		{"mapreduce.client.submit.file.replication", "1"},
		{"mapreduce.shuffle.port", strconv.Itoa(c.state.Ports[portShuffle])},
		{"mapreduce.client.completion.pollinterval", poll},
		{"mapreduce.client.progressmonitor.pollinterval", poll},
		{"yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", poll},
		{"yarn.app.mapreduce.am.resource.mb", memory},
		{"mapreduce.map.memory.mb", memory},
		{"mapreduce.reduce.memory.mb", memory},
		{"yarn.app.mapreduce.am.admin-command-opts", opts},
		{"mapreduce.admin.map.child.java.opts", opts},
		{"mapreduce.admin.reduce.child.java.opts", opts},
		{"yarn.app.mapreduce.am.command-opts", taskHeap + " " + quickStart},
		{"mapreduce.map.java.opts", taskHeap + " " + quickStart},
		{"mapreduce.reduce.java.opts", taskHeap + " " + quickStart},
	}
}

// capacityScheduler returns the properties of capacity-scheduler.xml, without which the
// ResourceManager does not start.
func capacityScheduler() []property {
	return []property{
		{"yarn.scheduler.capacity.root.queues", "default"},
		{"yarn.scheduler.capacity.root.default.capacity", "100"},
		{"yarn.scheduler.capacity.maximum-am-resource-percent", "0.5"},
	}
}

// writeFiles writes all files of the cluster's folder except data.
func (c *Cluster) writeFiles() error {
	for _, dir := range []string{
		"bin", "conf/webapps/hdfs", "conf/webapps/datanode", "local", "logs/userlogs",
		"run", "share/hadoop/tools/lib", "tmp",
	} {
		if err := os.MkdirAll(c.path(dir), 0o755); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	for name, properties := range map[string][]property{
		"core-site.xml":          c.coreSite(),
		"hdfs-site.xml":          c.hdfsSite(),
		"yarn-site.xml":          c.yarnSite(),
		"mapred-site.xml":        c.mapredSite(),
		"capacity-scheduler.xml": capacityScheduler(),
	} {
		b, err := xml.MarshalIndent(configuration{Properties: properties}, "", "  ")
		if err != nil {
			return fmt.Errorf("cluster: %s: %w", name, err)
		}
		if err := writeFile(c.path("conf", name), append([]byte(xml.Header), append(b, '\n')...), 0o644); err != nil {
			return err
		}
	}
	if err := writeFile(c.path("conf", "log4j.properties"), log4j, 0o644); err != nil {
		return err
	}
	if err := c.writeScript("env.sh", envScript, 0o644); err != nil {
		return err
	}
	if err := c.writeScript("bin/hadoop", hadoopScript, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"hdfs", "yarn", "mapred"} {
		if err := symlink("hadoop", c.path("bin", name)); err != nil {
			return err
		}
	}
	jar := filepath.Join(c.state.Jars, "hadoop-streaming-"+Version+".jar")
	if err := symlink(jar, c.path("share/hadoop/tools/lib", filepath.Base(jar))); err != nil {
		return err
	}
	return symlink(jar, c.StreamingJar())
}

// writeScript writes a shell script from a template that refers to the cluster.
func (c *Cluster) writeScript(name, text string, mode os.FileMode) error {
	t, err := template.New(name).Parse(text)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]string{
		"Version":    Version,
		"Dir":        c.dir,
		"JavaHome":   c.state.JavaHome,
		"JavaOpts":   strings.Join(javaOpts(), " "),
		"QuickStart": quickStart,
		"ClassPath":  strings.Join(c.classPath(), string(os.PathListSeparator)),
	})
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	return writeFile(c.path(name), b.Bytes(), mode)
}
