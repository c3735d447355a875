package hadoop

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"github.com/treereduce/treereduce/internal/testing/must"
)

func TestNameNodes(t *testing.T) {
	ha := hadoopconf.HadoopConf{
		"fs.defaultFS":                      "hdfs://both",
		"dfs.nameservices":                  "both,half",
		"dfs.ha.namenodes.both":             "nn1, nn2",
		"dfs.namenode.rpc-address.both.nn1": "one:9000",
		"dfs.namenode.rpc-address.both.nn2": "two",
		"dfs.ha.namenodes.half":             "nn1,nn2",
		"dfs.namenode.rpc-address.half.nn2": "two:9000",
	}
	for _, test := range []struct {
		conf hadoopconf.HadoopConf
		host string
		want string // the addresses, or the error
	}{
		{nil, "", "no name node: write hdfs://HOST:PORT/path, or set HADOOP_CONF_DIR, as build/cluster/env.sh does after make cluster-up"},
		{nil, "host:9000", "host:9000"},
		{nil, "host", "host:8020"},
		{hadoopconf.HadoopConf{"fs.defaultFS": "hdfs://host:9000/"}, "", "host:9000"},
		{hadoopconf.HadoopConf{"fs.defaultFS": "file:///"}, "", "the default file system is file:///, expected hdfs://host:port"},
		{ha, "", "one:9000 two:8020"},
		{ha, "both", "one:9000 two:8020"},
		{ha, "one:9000", "one:9000"},
		{ha, "half", "name service half: dfs.namenode.rpc-address.half.nn1 is not set"},
	} {
		nodes, err := nameNodes(test.conf, test.host)
		got := strings.Join(nodes, " ")
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%v, host %q: %s, want %s", test.conf, test.host, got, test.want)
		}
	}
}

// TestReferences reads a configuration in which the default file system is composed of
// references to other properties and to the environment. HDFS must find the same name node as
// YARN's tools.
func TestReferences(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"core-site.xml": `<configuration><property><name>fs.defaultFS</name><value>
  hdfs://${nn}:${env.TREEREDUCE_TEST_PORT}
</value></property></configuration>`,
		"hdfs-site.xml": `<configuration><property><name> nn </name><value>one</value></property></configuration>`,
	} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	t.Setenv("HADOOP_CONF_DIR", dir)
	t.Setenv("TREEREDUCE_TEST_PORT", "9000")
	properties, err := configuration()
	must.OK(t, err)
	nodes, err := nameNodes(properties, "")
	if err != nil || strings.Join(nodes, " ") != "one:9000" {
		t.Errorf("%s, %v, want one:9000", nodes, err)
	}
}

// TestUnreachable checks that the error describes how to start a cluster if the connection was
// refused, but not for other errors.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	unused := l.Addr().String()
	l.Close()
	_, _, err = Dial(Scheme + unused + "/x")
	if err == nil || !strings.HasPrefix(err.Error(), "name node "+unused+": ") || !strings.Contains(err.Error(), "connection refused: is it running? make cluster-up starts one on this machine") {
		t.Errorf("got %v", err)
	}
	if err := unreachable([]string{"host:1"}, errors.New("no answer")); err.Error() != "name node host:1: no answer" {
		t.Errorf("got %v", err)
	}
}

// TestSecure checks the errors of clusters with Kerberos that no client can use: without a ticket,
// without a token in a task, or with a protection of data that the hdfs client cannot read.
func TestSecure(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HADOOP_CONF_DIR", dir)
	logIn(t)
	t.Setenv("KRB5CCNAME", filepath.Join(dir, "none"))
	const works = "; it can with dfs.data.transfer.protection=authentication, or for privacy with dfs.encrypt.data.transfer=true and dfs.encrypt.data.transfer.cipher.suites=AES/CTR/NoPadding"
	const noTicket = "name node host:8020: login with Kerberos: no ticket: "
	for _, test := range []struct{ protection, encrypt, ciphers, want string }{
		{"", "", "", noTicket},
		{"authentication", "false", "", noTicket},
		{"privacy", "true", "AES/CTR/NoPadding", noTicket},
		{"integrity", "", "", "hdfs:///data: treereduce cannot read with dfs.data.transfer.protection=integrity" + works},
		{"privacy", "", "AES/CTR/NoPadding", "hdfs:///data: treereduce cannot read with dfs.data.transfer.protection=privacy" + works},
		{"authentication,privacy", "", "", "hdfs:///data: treereduce cannot read with dfs.data.transfer.protection=authentication,privacy" + works},
		{"", "true", "", "hdfs:///data: treereduce cannot read with dfs.encrypt.data.transfer=true without dfs.encrypt.data.transfer.cipher.suites" + works},
	} {
		site := "<configuration>"
		for name, value := range map[string]string{"fs.defaultFS": "hdfs://host", authentication: "kerberos", protection: test.protection, encryption: test.encrypt, ciphers: test.ciphers} {
			site += "<property><name>" + name + "</name><value>" + value + "</value></property>"
		}
		must.OK(t, os.WriteFile(filepath.Join(dir, "core-site.xml"), []byte(site+"</configuration>"), 0o644))
		_, _, err := Dial("hdfs:///data")
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v\nwant %s", err, test.want)
		}
	}
	t.Setenv("HADOOP_CONF_DIR", filepath.Join(dir, "none")) // a node need not have a configuration
	t.Setenv("hadoop_security_authentication", "kerberos")
	t.Setenv("HADOOP_TOKEN_FILE_LOCATION", filepath.Join(dir, "tokens"))
	if _, err := DialTask("hdfs://host:1", "host:1"); err == nil || !strings.HasPrefix(err.Error(), "name node host:1: no delegation token: open ") {
		t.Errorf("a task without a token: %v", err)
	}
}

// TestDataNodeHangs checks that reads and writes of a data node that hangs fail after the time
// that the configuration sets.
func TestDataNodeHangs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts, nothing answers
	must.OK(t, err)
	defer l.Close()
	f := newFS(hadoopconf.HadoopConf{"dfs.client.socket-timeout": "50"}, "")
	conn, err := f.options.DatanodeDialFunc(t.Context(), "tcp", l.Addr().String())
	must.OK(t, err)
	defer conn.Close()
	for range 2 { // each has the time limit
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read: %v", err)
		}
	}
	for err = nil; err == nil; {
		_, err = conn.Write(make([]byte, 1<<20))
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("write: %v", err)
	}
}

// TestReceived reads from a service as from a data node.
func TestReceived(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err == nil {
			io.WriteString(conn, "12345")
			conn.Close()
		}
	}()
	f := newFS(nil, "")
	conn, err := f.options.DatanodeDialFunc(t.Context(), "tcp", l.Addr().String())
	must.OK(t, err)
	defer conn.Close()
	if _, err := io.ReadAll(conn); err != nil {
		t.Fatal(err)
	}
	if n := f.Received(); n != 5 {
		t.Errorf("%d bytes, want 5", n)
	}
}
