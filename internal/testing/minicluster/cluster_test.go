//go:build unix

package minicluster

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// testCluster returns a cluster without running daemons.
func testCluster(t *testing.T) *Cluster { return clusterOf(t, false, 0) }

// clusterOf returns a cluster with one or two name nodes and a number of nodes, without running
// daemons.
func clusterOf(t *testing.T, ha bool, nodes int) *Cluster {
	t.Helper()
	c := &Cluster{dir: t.TempDir(), state: state{Version: Version, Jars: "/jars", JavaHome: "/java", HA: ha, Nodes: nodes}}
	must.OK(t, c.choosePorts(true))
	c.state.FreePorts = true
	must.OK(t, c.writeFiles())
	return c
}

// TestConfiguration checks the configuration files.
func TestConfiguration(t *testing.T) {
	for _, test := range []struct {
		ha        bool
		nodes     int
		defaultFS string
		nameDir   string
	}{
		{false, 0, "hdfs://localhost:", "dfs.namenode.name.dir"},
		{true, 0, "hdfs://treereduce", "dfs.namenode.name.dir.treereduce.nn1"},
		{false, 3, "hdfs://localhost:", "dfs.namenode.name.dir"},
		{false, maxNodes, "hdfs://localhost:", "dfs.namenode.name.dir"},
	} {
		c := clusterOf(t, test.ha, test.nodes)
		if !strings.HasPrefix(c.DefaultFS(), test.defaultFS) {
			t.Errorf("the file system is %s", c.DefaultFS())
		}
		want := map[int]map[string]string{1: {
			"dfs.datanode.data.dir":               "file://" + c.Dir() + "/hdfs/data",
			"dfs.datanode.hostname":               "localhost",
			"dfs.replication":                     "1",
			"yarn.nodemanager.hostname":           "localhost",
			"yarn.nodemanager.local-dirs":         c.Dir() + "/local",
			"yarn.nodemanager.log-dirs":           c.Dir() + "/logs/userlogs",
			"mapreduce.admin.map.child.java.opts": strings.Join(c.javaOpts(), " "),
		}}
		if test.nodes > 1 {
			want[1]["dfs.replication"] = "2"
			want[1]["dfs.datanode.hostname"], want[1]["yarn.nodemanager.hostname"] = "127.0.0.11", "127.0.0.11"
			want[3] = map[string]string{
				"dfs.datanode.data.dir":       "file://" + c.Dir() + "/node3/data",
				"dfs.datanode.hostname":       "127.0.0.13",
				"dfs.datanode.ipc.address":    fmt.Sprintf("localhost:%d", c.port(10067)),
				"yarn.nodemanager.hostname":   "127.0.0.13",
				"yarn.nodemanager.local-dirs": c.Dir() + "/node3/local",
				"yarn.nodemanager.log-dirs":   c.Dir() + "/node3/userlogs",
			}
		}
		for n := range c.nodes() {
			testConfiguration(t, c, n+1, test.nameDir, want[n+1])
		}
		hosts, err := os.ReadFile(c.hostsFile())
		if err != nil || strings.Contains(string(hosts), "\n127.0.0.13 127.0.0.13\n") != (test.nodes > 1) {
			t.Errorf("hosts: %s, %v", hosts, err)
		}
		if strings.Contains(strings.Join(c.javaOpts(), " "), "-Djdk.net.hosts.file="+c.Dir()+"/conf/hosts") != (test.nodes > 1) {
			t.Errorf("options of Java: %s", c.javaOpts())
		}
	}
}

// properties returns the configuration of node n.
func properties(t *testing.T, c *Cluster, n int) map[string]string {
	t.Helper()
	values := make(map[string]string)
	for _, name := range []string{"core-site.xml", "hdfs-site.xml", "yarn-site.xml", "mapred-site.xml", "capacity-scheduler.xml"} {
		b, err := os.ReadFile(filepath.Join(c.nodeDir(n).Conf, name))
		must.OK(t, err)
		var conf struct {
			Property []struct {
				Name  string `xml:"name"`
				Value string `xml:"value"`
			} `xml:"property"`
		}
		if err := xml.Unmarshal(b, &conf); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range conf.Property {
			if _, twice := values[p.Name]; twice {
				t.Errorf("%s is set twice", p.Name)
			}
			values[p.Name] = p.Value
		}
	}
	return values
}

// testConfiguration checks that every port of node n, and of the daemons that no node has, is on
// loopback and in exactly one setting of the node's configuration, and that other settings have
// the given values.
func testConfiguration(t *testing.T, c *Cluster, n int, nameDir string, want map[string]string) {
	t.Helper()
	values := properties(t, c, n)
	for _, d := range c.daemons() {
		for _, standard := range d.ports() {
			port, expected := c.port(standard), 1
			if own := d.first() == DataNode || d.first() == NodeManager; own && d.node() != n {
				expected = 0
			}
			found := 0
			for property, value := range values {
				switch {
				case value == fmt.Sprintf("localhost:%d", port), value == fmt.Sprintf("%s:%d", c.nodeHost(d.node()), port):
					found++
				case property == "mapreduce.shuffle.port" && value == fmt.Sprint(port):
					found++
				}
			}
			if found != expected {
				t.Errorf("node %d: port %d of %s is in %d settings, want %d", n, standard, d, found, expected)
			}
		}
	}
	all := map[string]string{
		"fs.defaultFS":                        c.DefaultFS(),
		nameDir:                               "file://" + c.Dir() + "/hdfs/name",
		"mapreduce.application.classpath":     c.Dir() + "/conf,/jars/*",
		"yarn.nodemanager.aux-services":       "mapreduce_shuffle",
		"yarn.scheduler.capacity.root.queues": "default",
		"mapreduce.map.java.opts":             "-Xmx400m -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
	}
	maps.Copy(all, want)
	for name, want := range all {
		if values[name] != want {
			t.Errorf("node %d: %s is %q, want %q", n, name, values[name], want)
		}
	}
}

// TestScripts runs the scripts with a java that prints its arguments.
func TestScripts(t *testing.T) {
	c := testCluster(t)
	home := t.TempDir()
	writeProgram(t, filepath.Join(home, "bin", "java"), `for a; do case $a in -*) ;; *) printf '%s ' "$a" ;; esac; done`)
	c.state.JavaHome = home
	must.OK(t, c.writeFiles())
	classPath := c.Dir() + "/conf:/jars/*"
	for _, test := range []struct{ command, want string }{
		{"hadoop fs -ls 'a b'", classPath + " org.apache.hadoop.fs.FsShell a b "},
		{"hadoop jar x.jar y", classPath + " org.apache.hadoop.util.RunJar x.jar y "},
		{"hdfs dfs -ls /", classPath + " org.apache.hadoop.fs.FsShell / "},
		{"yarn application -list", classPath + " org.apache.hadoop.yarn.client.cli.ApplicationCLI application "},
		{"mapred streaming", classPath + " org.apache.hadoop.util.RunJar " + c.StreamingJar() + " "},
		{"hadoop some.Class x", classPath + " some.Class x "},
		{"hadoop classpath", classPath + "\n"},
	} {
		cmd := exec.Command("sh", "-c", ". "+c.path("env.sh")+" && "+test.command)
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != test.want {
			t.Errorf("%s: %q, %v, want %q", test.command, out, err, test.want)
		}
	}
	for _, args := range [][]string{{}, {"nonsense"}} {
		err := c.Command(context.Background(), args...).Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("hadoop %v: %v, want exit 1", args, err)
		}
	}
}

// background starts a process that is killed at the end of the test.
func background(t *testing.T, env []string, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// setPID writes a pid file, and returns the process that it is for.
func (c *Cluster) setPID(t *testing.T, d Daemon, content string) int {
	t.Helper()
	must.OK(t, os.WriteFile(c.pidFile(d), []byte(content), 0o644))
	return c.pid(d)
}

// TestPID tests pid files that are correct, of a process that has ended, of another process with
// the same number, and malformed.
func TestPID(t *testing.T) {
	c := testCluster(t)
	if pid := c.pid(NameNode); pid != 0 {
		t.Errorf("no file: %d", pid)
	}
	daemon := background(t, nil, "sleep", "600")
	pid := daemon.Process.Pid
	own := fmt.Sprintln(pid, startTime(pid))
	for _, content := range []string{"", "x", "-1", "0", fmt.Sprint(pid), fmt.Sprint(pid, " "), fmt.Sprint(pid, " 1"), "4194305 1"} {
		if got := c.setPID(t, NameNode, content); got != 0 {
			t.Errorf("file %q: %d", content, got)
		}
	}
	if got := c.setPID(t, NameNode, own); got != pid {
		t.Fatalf("file %q: %d", own, got)
	}
	must.OK(t, daemon.Process.Kill())
	// No process has waited for it: it is a zombie.
	for c.pid(NameNode) != 0 {
		time.Sleep(endPoll)
	}
}

// TestStart checks that a daemon is recognized as soon as start returns, that Kill waits for its
// end, and that start does not wait for one that ends at once.
func TestStart(t *testing.T) {
	c := testCluster(t)
	c.state.JavaHome = t.TempDir()
	java := filepath.Join(c.state.JavaHome, "bin", "java")
	writeProgram(t, java, "exec sleep 600")
	for range 40 {
		must.OK(t, c.start(t.Context(), DataNode))
		if c.pid(DataNode) == 0 {
			t.Fatal("a started daemon is not recognized")
		}
		if err := c.Kill(DataNode); err != nil || c.pid(DataNode) != 0 {
			t.Fatalf("process %d after Kill: %v", c.pid(DataNode), err)
		}
	}
	writeProgram(t, java, "exit 1")
	must.OK(t, c.start(t.Context(), DataNode))
}

// TestStop checks that processes that handle SIGTERM are stopped, those that ignore it are
// killed, and all others on the machine are left alone.
func TestStop(t *testing.T) {
	c := testCluster(t)
	ready := filepath.Join(t.TempDir(), "ready")
	polite := background(t, nil, "sleep", "600")
	stubborn := background(t, nil, "sh", "-c", `trap "" TERM; touch "$1"; while :; do sleep 0.1; done`, "sh", ready)
	unrelated := background(t, nil, "sleep", "600")
	task := background(t, []string{"LOCAL_DIRS=" + c.path("local") + "/usercache"}, "sleep", "600")
	foreign := background(t, []string{"LOCAL_DIRS=/elsewhere" + c.path("local") + "/"}, "sleep", "600")
	for {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		time.Sleep(endPoll)
	}
	for d, cmd := range map[Daemon]*exec.Cmd{DataNode: polite, NameNode: stubborn} {
		c.setPID(t, d, fmt.Sprint(cmd.Process.Pid, " ", startTime(cmd.Process.Pid)))
	}
	c.setPID(t, NodeManager, fmt.Sprint(unrelated.Process.Pid, " 1"))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	must.OK(t, c.stop(ctx, c.daemons()))
	for name, cmd := range map[string]*exec.Cmd{"DataNode": polite, "NameNode": stubborn, "task": task} {
		if startTime(cmd.Process.Pid) != "" {
			t.Errorf("%s still runs", name)
		}
	}
	for name, cmd := range map[string]*exec.Cmd{"unrelated": unrelated, "other cluster's task": foreign} {
		if startTime(cmd.Process.Pid) == "" {
			t.Errorf("%s does not run any more", name)
		}
	}
	for _, s := range c.Status() {
		if s.PID != 0 {
			t.Errorf("%s: pid %d", s.Daemon, s.PID)
		}
	}
}

// TestKillNode checks that the daemons and tasks of a node are killed, also a daemon that is
// stopped, that its files are deleted on request, and that the other nodes are left alone.
func TestKillNode(t *testing.T) {
	c := clusterOf(t, false, 3)
	process := func(env ...string) int { return background(t, env, "sleep", "600").Process.Pid }
	var killed, left []int
	for n := 1; n <= 3; n++ {
		pids := []int{process(), process(), process("LOCAL_DIRS=" + c.nodeDir(n).Local + "/usercache")}
		for i, d := range []Daemon{DataNode, NodeManager} {
			c.setPID(t, d.OfNode(n), fmt.Sprint(pids[i], " ", startTime(pids[i])))
		}
		if n == 2 {
			killed = pids
		} else {
			left = append(left, pids...)
		}
		must.OK(t, os.MkdirAll(c.nodeDir(n).Data, 0o755))
	}
	must.OK(t, syscall.Kill(killed[0], syscall.SIGSTOP))
	for _, remove := range []bool{false, true} { // the second time, nothing runs
		must.OK(t, c.KillNode(2, remove))
		for _, dir := range []string{c.nodeDir(2).Data, c.nodeDir(2).Local} {
			if _, err := os.Stat(dir); (err != nil) != remove {
				t.Errorf("remove %v: %s: %v", remove, dir, err)
			}
		}
	}
	for i := range killed {
		if startTime(killed[i]) != "" {
			t.Errorf("process %d of node 2 runs", i)
		}
	}
	for i := range left {
		if startTime(left[i]) == "" {
			t.Errorf("process %d of the other nodes does not run", i)
		}
	}
	for _, n := range []int{1, 3} {
		if _, err := os.Stat(c.nodeDir(n).Data); err != nil {
			t.Error(err)
		}
	}
	for _, n := range []int{0, 4} {
		if err := c.KillNode(n, true); err == nil || !strings.Contains(err.Error(), "the cluster has nodes 1 to 3") {
			t.Errorf("node %d: %v", n, err)
		}
	}
}

// TestNodes checks that the number of nodes is limited, and cannot change once the file system
// is formatted.
func TestNodes(t *testing.T) {
	java := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(java, "release"), []byte(`JAVA_VERSION="17"`), 0o644))
	t.Setenv("JAVA_HOME", java)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	cache, err := os.UserCacheDir()
	must.OK(t, err)
	jars := filepath.Join(cache, "treereduce", "hadoop-"+Version)
	must.OK(t, os.MkdirAll(jars, 0o755))
	must.OK(t, os.WriteFile(filepath.Join(jars, "pom.xml"), pom, 0o644))
	c := testCluster(t)
	for _, test := range []struct {
		nodes, want int
		why         string
	}{
		{0, 1, ""},
		{maxNodes + 1, 1, "expected 1 to 9"},
		{-1, 1, "expected 1 to 9"},
		{3, 3, ""},
		{0, 3, ""},
	} {
		err := c.prepare(t.Context(), Config{FreePorts: true, Nodes: test.nodes}, io.Discard)
		if c.nodes() != test.want || (err != nil) != (test.why != "") || err != nil && !strings.Contains(err.Error(), test.why) {
			t.Errorf("%d nodes: %d, %v, want %d, %q", test.nodes, c.nodes(), err, test.want, test.why)
		}
	}
	must.OK(t, os.Mkdir(c.path("hdfs"), 0o755))
	must.OK(t, os.WriteFile(c.formatted(), nil, 0o644))
	for nodes, ok := range map[int]bool{0: true, 3: true, 1: false, 4: false} {
		err := c.prepare(t.Context(), Config{FreePorts: true, Nodes: nodes}, io.Discard)
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "was formatted for 3 node(s)") {
			t.Errorf("%d nodes after 3: %v", nodes, err)
		}
	}
	if err := c.prepare(t.Context(), Config{FreePorts: true, HA: true, Secure: true}, io.Discard); err == nil || !strings.Contains(err.Error(), "has one name node") {
		t.Errorf("two name nodes with Kerberos: %v", err)
	}
	// The use of Kerberos cannot change either. That is checked before its jars are downloaded.
	for jars, want := range map[string]string{"": "was formatted without Kerberos", "/kerberos": "was formatted with Kerberos"} {
		c.state.KerberosJars = jars
		err := c.prepare(t.Context(), Config{FreePorts: true, Secure: jars == ""}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Kerberos jars %q: %v, want that it %s", jars, err, want)
		}
	}
}

func TestPorts(t *testing.T) {
	c := testCluster(t)
	must.OK(t, c.checkPorts())
	before := maps.Clone(c.state.Ports)
	if err := c.choosePorts(true); err != nil || !maps.Equal(c.state.Ports, before) {
		t.Errorf("ports that are free: %v, %v, want %v again", c.state.Ports, err, before)
	}
	const historyWeb = 19888
	l, err := net.Listen("tcp4", c.address(historyWeb))
	must.OK(t, err)
	defer l.Close()
	err = c.checkPorts()
	if err == nil || !strings.Contains(err.Error(), "(JobHistoryServer) is taken by another process: stop that, or start with --free-ports (make cluster-up FREE_PORTS=1)") {
		t.Errorf("taken port: %v", err)
	}
	taken := c.port(historyWeb)
	must.OK(t, c.choosePorts(true))
	for standard, port := range c.state.Ports {
		if port == taken {
			t.Errorf("%d: port %d is taken", standard, port)
		}
	}
}

func TestClaim(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	dir := filepath.Join(t.TempDir(), "a", "cluster")
	unlock, err := claim(t.Context(), dir)
	must.OK(t, err)
	if _, err := claim(ctx, dir); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("claim of what is claimed: %v", err)
	}
	unlock()
	unlock, err = claim(context.Background(), dir)
	must.OK(t, err)
	unlock()
	if _, err := Open(dir); !errors.Is(err, ErrNone) {
		t.Errorf("Open of what never came up: %v", err)
	}
	foreign := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(foreign, "data"), 0o755))
	if _, err := Up(context.Background(), Config{Dir: foreign}); err == nil || !strings.Contains(err.Error(), "neither empty nor a cluster's") {
		t.Errorf("Up in a foreign folder: %v", err)
	}
	for _, path := range []string{"/a b", "/a:b", "/a,b", "/a'b", "/a$b", "/a%20b", "/a*"} {
		if _, err := plainPath(path); err == nil {
			t.Errorf("%q is taken for a plain path", path)
		}
	}
}

// writeProgram writes a shell script.
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.OK(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
}

func TestFindJava(t *testing.T) {
	dir := t.TempDir()
	java := func(version string) string {
		home := filepath.Join(dir, version)
		must.OK(t, os.MkdirAll(home, 0o755))
		must.OK(t, os.WriteFile(filepath.Join(home, "release"), fmt.Appendf(nil, "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"%s\"\n", version), 0o644))
		return home
	}
	for _, test := range []struct {
		homes     []string
		home, why string
	}{
		{[]string{java("17.0.15"), java("21")}, dir + "/17.0.15", ""},
		{[]string{java("1.8.0_432"), java("25.0.1"), java("11.0.2")}, dir + "/11.0.2", ""},
		{[]string{java("1.8.0_432"), java("25.0.1")}, "", "1.8.0_432 is Java 8"},
		{[]string{filepath.Join(dir, "none")}, "", "no such file"},
		{nil, "", "none in"},
	} {
		home, err := findJava(test.homes)
		if home != test.home || test.home == "" && !strings.Contains(err.Error(), test.why) {
			t.Errorf("%v: %q, %v, want %q %q", test.homes, home, err, test.home, test.why)
		}
	}
}

// TestJars uses a mvn that fails at first, and checks that its incomplete result is not
// used.
func TestJars(t *testing.T) {
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	writeProgram(t, filepath.Join(dir, "mvn"), `
for a; do case $a in -DoutputDirectory=*) out=${a#*=} ;; esac; done
echo x >>`+calls+`
echo jar >"$out"/hadoop-common-3.4.2.jar
[ "$(wc -l <`+calls+`)" -gt 1 ] || { echo 'no network'; exit 1; }
echo jar >"$out"/hadoop-streaming-3.4.2.jar`)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("XDG_CACHE_HOME", dir)
	cache := filepath.Join(dir, "treereduce", "hadoop-"+Version)
	_, err := hadoopJars.need(context.Background(), "/java", io.Discard)
	if err == nil || !strings.Contains(err.Error(), "no network") {
		t.Fatalf("mvn failed: %v", err)
	}
	if _, err := os.Stat(cache); err == nil {
		t.Fatal("half a download has its name")
	}
	for range 2 {
		if _, err := hadoopJars.need(context.Background(), "/java", io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(calls); err != nil || len(b) != 2*len("x\n") {
		t.Errorf("mvn was called %d times (%v), want 2", len(b)/2, err)
	}
}
