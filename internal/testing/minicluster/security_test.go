//go:build unix

package minicluster

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/keytab"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestSecureConfiguration checks the settings of a cluster with Kerberos that depend on its Config.
func TestSecureConfiguration(t *testing.T) {
	c := clusterOf(t, false, 3)
	c.state.KerberosJars = "/kerberos"
	must.OK(t, c.choosePorts(true))
	for _, test := range []struct {
		protection string
		lifetime   time.Duration
		want       map[string]string
	}{
		{"", 0, map[string]string{"dfs.data.transfer.protection": "authentication", "dfs.encrypt.data.transfer": "", "hadoop.rpc.protection": ""}},
		{"integrity,privacy", 2 * time.Minute, map[string]string{"dfs.data.transfer.protection": "integrity,privacy", "dfs.encrypt.data.transfer": ""}},
		{PrivacyAES, time.Hour, map[string]string{
			"dfs.data.transfer.protection":                  "privacy",
			"dfs.encrypt.data.transfer":                     "true",
			"dfs.encrypt.data.transfer.cipher.suites":       "AES/CTR/NoPadding",
			"hadoop.rpc.protection":                         "privacy",
			"dfs.namenode.kerberos.principal":               "hdfs/localhost@TREEREDUCE.TEST",
			"yarn.nodemanager.principal":                    "yarn/localhost@TREEREDUCE.TEST",
			"mapreduce.jobhistory.principal":                "mapred/localhost@TREEREDUCE.TEST",
			"hadoop.http.authentication.kerberos.principal": "HTTP/localhost@TREEREDUCE.TEST",
		}},
	} {
		c.state.Protection, c.state.TicketLifetime = test.protection, test.lifetime
		must.OK(t, c.writeFiles())
		for n := 1; n <= 3; n++ {
			values := properties(t, c, n)
			for name, want := range test.want {
				if values[name] != want {
					t.Errorf("protection %q: node %d: %s is %q, want %q", test.protection, n, name, values[name], want)
				}
			}
		}
		conf, err := config.Load(c.path("krb5.conf"))
		must.OK(t, err)
		lifetime := test.lifetime
		if lifetime == 0 {
			lifetime = 24 * time.Hour // the default of krb5.conf
		}
		if d := conf.LibDefaults; d.TicketLifetime != lifetime || d.RenewLifetime != 10*test.lifetime || d.DefaultRealm != realm {
			t.Errorf("lifetime %v: %v, renewable for %v, realm %s", test.lifetime, d.TicketLifetime, d.RenewLifetime, d.DefaultRealm)
		}
	}
}

// TestUserKeytab checks that the keytab of alice has all her keys, and no others.
func TestUserKeytab(t *testing.T) {
	c := testCluster(t)
	must.OK(t, c.writeKDC())
	all := keytab.New()
	for _, name := range []string{hdfsName, alice, alice + "x", webName, alice} {
		must.OK(t, all.AddEntry(name, realm, "secret", time.Now(), 1, 17))
	}
	b, err := all.Marshal()
	must.OK(t, err)
	must.OK(t, os.WriteFile(c.serviceKeytab(), b, 0o600))
	must.OK(t, c.writeUserKeytab())
	own, err := keytab.Load(c.Keytab())
	must.OK(t, err)
	if text := own.String(); len(own.Entries) != 2 || strings.Count(text, c.Principal()) != 2 {
		t.Errorf("the keytab of alice has\n%s", text)
	}
}
