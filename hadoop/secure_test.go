package hadoop

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/colinmarc/hdfs/v2/hadoopconf"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/treereduce/treereduce/hadoop/kerberos"
	"github.com/treereduce/treereduce/internal/testing/kinit"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// logIn writes a ticket cache of alice@R.TEST, whose KDC does not answer, and sets the environment.
func logIn(t *testing.T) {
	service := types.NewPrincipalName(2, "krbtgt/R.TEST")
	encoded, err := (&messages.Ticket{TktVNO: 5, Realm: "R.TEST", SName: service,
		EncPart: types.EncryptedData{EType: etypeID.AES256_CTS_HMAC_SHA1_96, Cipher: []byte("ticket")}}).Marshal()
	must.OK(t, err)
	now := time.Now()
	ticket := &credentials.Credential{Key: types.EncryptionKey{KeyType: etypeID.AES256_CTS_HMAC_SHA1_96, KeyValue: make([]byte, 32)},
		AuthTime: now.Add(-time.Minute), StartTime: now.Add(-time.Minute), EndTime: now.Add(time.Hour), RenewTill: now, Ticket: encoded}
	ticket.Server.Realm, ticket.Server.PrincipalName = "R.TEST", service
	cache := kinit.Cache(types.NewPrincipalName(1, "alice"), "R.TEST", ticket)
	dir := t.TempDir()
	conf := "[libdefaults]\ndefault_realm = R.TEST\nudp_preference_limit = 1\n[realms]\nR.TEST = {\nkdc = 127.0.0.1:1\n}\n"
	for file, content := range map[string]string{"krb5.conf": conf, "cache": string(cache)} {
		must.OK(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600))
	}
	t.Setenv("KRB5_CONFIG", filepath.Join(dir, "krb5.conf"))
	t.Setenv("KRB5CCNAME", filepath.Join(dir, "cache"))
	t.Setenv(kerberos.Keytab, "")
	t.Setenv(kerberos.Principal, "")
}

// TestNoServiceTicket connects to a name node for which the KDC gives no ticket. The connection is
// closed.
func TestNoServiceTicket(t *testing.T) {
	logIn(t)
	nameNode, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	defer nameNode.Close()
	received := make(chan error, 1)
	go func() {
		conn, err := nameNode.Accept()
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
			conn.Close()
		}
		received <- err
	}()
	properties := hadoopconf.HadoopConf{authentication: "kerberos", namePrincipal: "nn/_HOST@R.TEST"}
	_, err = connect(properties, []string{nameNode.Addr().String()}, "", nil)
	if err == nil || !strings.Contains(err.Error(), "login with Kerberos: no KDC of R.TEST answers") {
		t.Error(err)
	}
	if err := <-received; err != io.EOF {
		t.Errorf("the name node: %v", err)
	}
}

// TestIdentify checks the user of a ticket, and the error of a keytab without a principal.
func TestIdentify(t *testing.T) {
	logIn(t)
	id, user, err := identify("", nil)
	if err != nil || user != "alice" {
		t.Fatalf("%q, %v", user, err)
	}
	id.login.Close()
	t.Setenv(kerberos.Keytab, "/keytab")
	const want = "login with Kerberos: the keytab /keytab needs a principal (--principal, or KRB5PRINCIPAL in the environment)"
	if id, _, err := identify("", nil); err == nil || err.Error() != want || id.login != nil {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// TestSlowLogin checks that the time that a connection takes to fail counts as time of a failover.
func TestSlowLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noKDC := errors.New("no KDC answers")
		d := &dialer{limits: &newFS(nil, "").limits, nodes: 2, connect: func(context.Context, string, string) (net.Conn, error) {
			time.Sleep(2*hdfsBackoff + time.Second)
			return nil, noKDC
		}}
		begun := time.Now()
		for err := noKDC; err == noKDC; {
			_, err = d.dial(t.Context(), "tcp", "host:1")
			if time.Since(begun) > 2*failoverWait {
				t.Fatalf("no end after %v", time.Since(begun))
			}
		}
	})
}
