//go:build unix

package minicluster

import (
	_ "embed"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/spnego"
)

// The principals of a cluster with Kerberos. The KDC makes new keys at each start. Hadoop's user
// of alice is the user who started the cluster: without Hadoop's setuid program, a NodeManager
// runs all tasks as its own user, and refuses to send map outputs that another user owns.
const (
	realm    = "TREEREDUCE.TEST"
	alice    = "alice"
	webName  = "HTTP/localhost"
	hdfsName = "hdfs/localhost"
	yarnName = "yarn/localhost"
	jobsName = "mapred/localhost"
)

// PrivacyAES is the Config.Protection that encrypts data by AES. Hadoop has no single property
// for it.
const PrivacyAES = "privacy-aes"

var (
	//go:embed kerberos.xml
	kerberosPom []byte
	//go:embed krb5.conf
	krb5Conf string
)

// secure reports whether the cluster has Kerberos.
func (c *Cluster) secure() bool { return c.state.KerberosJars != "" }

// Principal returns the principal of the user alice, for whom Keytab is.
func (c *Cluster) Principal() string { return alice + "@" + realm }

// Keytab returns the name of the keytab of the user alice.
func (c *Cluster) Keytab() string { return c.path(alice + ".keytab") }

// serviceKeytab returns the name of the keytab that the KDC writes, of all principals.
func (c *Cluster) serviceKeytab() string { return c.path("kdc", "service.keytab") }

// nativeLibrary returns the folder of Hadoop's native library in that of the Kerberos jars.
func nativeLibrary() string {
	arch := runtime.GOARCH
	if arch == "arm64" {
		arch = "aarch64"
	}
	return filepath.Join("nativelib", "Linux-"+arch)
}

// writeKDC writes the configuration of the KDC, and deletes the files of an earlier run.
func (c *Cluster) writeKDC() error {
	if err := os.RemoveAll(c.path("kdc")); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	if err := os.Mkdir(c.path("kdc"), 0o700); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	org, domain, _ := strings.Cut(realm, ".")
	return writeFile(c.path("kdc", "kdc.properties"), fmt.Appendf(nil, `org.name=%s
org.domain=%s
kdc.bind.address=%s
kdc.port=%d
instance=KDC
transport=TCP
debug=false
max.ticket.lifetime=86400000
max.renewable.lifetime=604800000
`, org, domain, host, c.port(kdcPort)), 0o644)
}

// kdcArgs returns the arguments of the KDC.
func (c *Cluster) kdcArgs() []string {
	return []string{c.path("kdc"), c.path("kdc", "kdc.properties"), c.serviceKeytab(), alice, webName, hdfsName, yarnName, jobsName}
}

// writeUserKeytab writes the keytab of alice.
func (c *Cluster) writeUserKeytab() error {
	all, err := keytab.Load(c.serviceKeytab())
	if err != nil {
		return fmt.Errorf("cluster: keytab: %w", err)
	}
	for i := len(all.Entries) - 1; i >= 0; i-- {
		if all.Entries[i].Principal.String() != c.Principal() {
			all.Entries = slices.Delete(all.Entries, i, i+1)
		}
	}
	b, err := all.Marshal()
	if err != nil {
		return fmt.Errorf("cluster: keytab: %w", err)
	}
	return writeFile(c.Keytab(), b, 0o600)
}

// do sends a request, as HDFS's superuser if the cluster has Kerberos.
func (c *Cluster) do(r *http.Request) (*http.Response, error) {
	// Without a proxy, whatever the environment contains, because this is loopback.
	plain := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if !c.secure() {
		return plain.Do(r)
	}
	conf, err := config.Load(c.path("krb5.conf"))
	if err != nil {
		return nil, err
	}
	keys, err := keytab.Load(c.serviceKeytab())
	if err != nil {
		return nil, err
	}
	hdfs := client.NewWithKeytab(hdfsName, realm, keys, conf)
	defer hdfs.Destroy() // otherwise it renews its ticket for ever
	return spnego.NewClient(hdfs, plain, webName).Do(r)
}
