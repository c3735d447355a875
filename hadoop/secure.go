package hadoop

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"
	"github.com/jcmturner/gokrb5/v8/client"

	"github.com/treereduce/treereduce/hadoop/kerberos"
)

// Properties that concern the security of HDFS.
const (
	authentication = "hadoop.security.authentication"
	namePrincipal  = "dfs.namenode.kerberos.principal"
	protection     = "dfs.data.transfer.protection"
	encryption     = "dfs.encrypt.data.transfer"
	ciphers        = "dfs.encrypt.data.transfer.cipher.suites"
)

// secure reports whether a cluster has Kerberos.
func secure(properties hadoopconf.HadoopConf) bool {
	return strings.EqualFold(properties[authentication], "kerberos")
}

// notInName matches the characters that Hadoop Streaming replaces in the name of a property, to
// make it the name of an environment variable.
var notInName = regexp.MustCompile(`[^A-Za-z0-9]`)

// jobProperties returns the properties, replaced by those of this task's job, which are in its
// environment. The node on which a task runs need not have a configuration.
func jobProperties(properties hadoopconf.HadoopConf) hadoopconf.HadoopConf {
	for _, name := range []string{authentication, protection, encryption, "dfs.client.use.datanode.hostname", umaskMode} {
		if value, found := os.LookupEnv(notInName.ReplaceAllString(name, "_")); found {
			if properties == nil {
				properties = make(hadoopconf.HadoopConf)
			}
			properties[name] = value
		}
	}
	return properties
}

// checkTransfer returns an error if data nodes want a protection that the hdfs client cannot
// read (docs/notes/hdfs-read.md).
func checkTransfer(properties hadoopconf.HadoopConf) error {
	wanted, encrypted := strings.TrimSpace(properties[protection]), strings.EqualFold(properties[encryption], "true")
	found := protection + "=" + wanted
	switch {
	case encrypted && properties[ciphers] == "AES/CTR/NoPadding":
		return nil
	case encrypted:
		found = encryption + "=true without " + ciphers
	case wanted == "", strings.EqualFold(wanted, "authentication"):
		return nil
	}
	return fmt.Errorf("treereduce cannot read with %s; it can with %s=authentication, or for privacy with %s=true and %s=AES/CTR/NoPadding",
		found, protection, encryption, ciphers)
}

// An identity is how a client authenticates with name nodes: by Kerberos, by the delegation token
// of a task, or, if both are nil, by a name alone.
type identity struct {
	login *kerberos.Login
	token *token
}

// identify returns the identity of this process on a cluster with Kerberos, and its user: that of
// its job's token in a task, or else by Kerberos.
func identify(name string, addresses []string) (id identity, user string, err error) {
	if file := os.Getenv(tokenFile); file != "" {
		id.token, user, err = nameNodeToken(file, name, addresses)
		return id, user, err
	}
	if id.login, err = kerberos.New(); err == nil {
		user = id.login.User()
	}
	return id, user, err
}

// authenticate makes a client with these options authenticate by id.
func (id identity) authenticate(options *hdfs.ClientOptions) error {
	dial := options.NamenodeDialFunc
	options.KerberosClient = nil
	switch {
	case id.token != nil:
		options.NamenodeDialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return id.token.authenticate(conn)
		}
	case id.login != nil:
		if options.KerberosServicePrincipleName == "" {
			return errors.New(namePrincipal + " is not set")
		}
		current, err := id.login.Client()
		if err != nil {
			return err
		}
		// Each hdfs client has its own copy of the Kerberos client, which gets a fresh ticket before
		// each connection.
		own := new(client.Client)
		*own = *current
		options.KerberosClient = own
		service := options.KerberosServicePrincipleName
		options.NamenodeDialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			host, _, _ := net.SplitHostPort(address)
			current, err := id.login.For(strings.Replace(service, "_HOST", host, 1))
			if err != nil {
				conn.Close()
				return nil, err
			}
			*own = *current
			return conn, nil
		}
	}
	return nil
}
