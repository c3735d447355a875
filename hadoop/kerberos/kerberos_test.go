package kerberos

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/spnego"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/treereduce/treereduce/internal/testing/kinit"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// kdc answers every request with an error, and returns its address.
func kdc(t *testing.T, code int32) string {
	failure := messages.NewKRBError(types.PrincipalName{NameString: []string{"krbtgt", "R.TEST"}}, "R.TEST", code, "")
	b, err := failure.Marshal()
	must.OK(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			var length [4]byte
			io.ReadFull(conn, length[:])
			request := make([]byte, binary.BigEndian.Uint32(length[:]))
			io.ReadFull(conn, request)
			conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// setUp sets the environment: a krb5.conf with the KDC of R.TEST, and neither keytab nor cache. It
// returns a directory for files.
func setUp(t *testing.T, kdc string) string {
	dir := t.TempDir()
	conf := filepath.Join(dir, "krb5.conf")
	text := fmt.Sprintf("[libdefaults]\ndefault_realm = R.TEST\nudp_preference_limit = 1\n[realms]\nR.TEST = {\nkdc = %s\n}\n", kdc)
	must.OK(t, os.WriteFile(conf, []byte(text), 0o600))
	t.Setenv(confName, conf)
	t.Setenv(Keytab, "")
	t.Setenv(Principal, "")
	t.Setenv(cacheName, "FILE:"+filepath.Join(dir, "cache"))
	return dir
}

// writeKeytab writes a keytab with a key of alice@R.TEST.
func writeKeytab(t *testing.T, file string) {
	kt := keytab.New()
	must.OK(t, kt.AddEntry("alice", "R.TEST", "secret", time.Unix(1e9, 0), 1, etypeID.AES256_CTS_HMAC_SHA1_96))
	b, err := kt.Marshal()
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	must.OK(t, err)
}

var (
	sessionKey = types.EncryptionKey{KeyType: etypeID.AES256_CTS_HMAC_SHA1_96, KeyValue: make([]byte, 32)}
	aTicket    = messages.Ticket{TktVNO: 5, Realm: "R.TEST", SName: types.NewPrincipalName(2, "krbtgt/R.TEST"),
		EncPart: types.EncryptedData{EType: etypeID.AES256_CTS_HMAC_SHA1_96, Cipher: []byte("ticket")}}
)

// writeCache writes a cache with a ticket of alice@R.TEST, which began an hour ago.
func writeCache(t *testing.T, file string, end, renew time.Time) {
	begun := time.Now().Add(-time.Hour)
	c := &credentials.Credential{AuthTime: begun, StartTime: begun, EndTime: end, RenewTill: renew, Key: sessionKey, Ticket: must.Get(aTicket.Marshal())(t)}
	c.Server.Realm, c.Server.PrincipalName = aTicket.Realm, aTicket.SName
	must.OK(t, kinit.Save(file, types.NewPrincipalName(1, "alice"), "R.TEST", c))
}

// TestErrors checks the line for each login that cannot succeed.
func TestErrors(t *testing.T) {
	unused, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	unused.Close()
	soon := time.Now().Add(time.Hour)
	for _, test := range []struct {
		name    string
		kdc     string
		prepare func(t *testing.T, dir string)
		want    string
	}{
		{"no configuration", "", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "krb5.conf")) },
			"no configuration: open DIR/krb5.conf: no such file or directory (KRB5_CONFIG names the file)"},
		{"no ticket", "", nil, "no ticket: DIR/cache does not exist: run kinit, or use a keytab (--keytab, --principal)"},
		{"not a file", "", func(t *testing.T, dir string) { t.Setenv(cacheName, "KEYRING:persistent:0") },
			"KRB5CCNAME=KEYRING:persistent:0: only a file can be the ticket cache, as in KRB5CCNAME=FILE:/tmp/tickets"},
		{"ended", "", func(t *testing.T, dir string) {
			writeCache(t, filepath.Join(dir, "cache"), time.Unix(1e9, 0), time.Time{})
		}, "the ticket of alice@R.TEST in DIR/cache ended at " + time.Unix(1e9, 0).Format(time.DateTime) + ": run kinit"},
		{"another's", "", func(t *testing.T, dir string) {
			writeCache(t, filepath.Join(dir, "cache"), soon, soon)
			t.Setenv(Principal, "bob")
		}, "the ticket cache DIR/cache belongs to alice@R.TEST, not to bob@R.TEST"},
		{"another realm's", "", func(t *testing.T, dir string) {
			writeCache(t, filepath.Join(dir, "cache"), soon, soon)
			t.Setenv(Principal, "alice@OTHER.TEST")
		}, "the ticket cache DIR/cache belongs to alice@R.TEST, not to alice@OTHER.TEST"},
		{"damaged", "", func(t *testing.T, dir string) {
			os.WriteFile(filepath.Join(dir, "cache"), []byte{5, 4, 0, 9, 1}, 0o600)
		}, "the ticket cache DIR/cache is damaged"},
		{"no principal", "", func(t *testing.T, dir string) { t.Setenv(Keytab, filepath.Join(dir, "keytab")) },
			"the keytab DIR/keytab needs a principal (--principal, or KRB5PRINCIPAL in the environment)"},
		{"no keytab", "", func(t *testing.T, dir string) {
			t.Setenv(Keytab, filepath.Join(dir, "none"))
			t.Setenv(Principal, "alice")
		}, "no keytab: open DIR/none: no such file or directory"},
		{"unknown in keytab", "", withKeytab("bob"), "the keytab DIR/keytab has no key of bob@R.TEST (it has keys of alice@R.TEST)"},
		{"damaged keytab", "", func(t *testing.T, dir string) {
			withKeytab("alice")(t, dir)
			os.Truncate(filepath.Join(dir, "keytab"), 30)
		}, "the keytab DIR/keytab is damaged"},
		{"wrong realm", "", withKeytab("alice@ELSEWHERE.TEST"), "the keytab DIR/keytab has no key of alice@ELSEWHERE.TEST (it has keys of alice@R.TEST)"},
		{"no KDC", unused.Addr().String(), withKeytab("alice"), "no KDC of R.TEST answers"},
		{"clock skew", kdc(t, errorcode.KRB_AP_ERR_SKEW), withKeytab("alice"), "the clock of this machine and that of the KDC of R.TEST differ too much"},
		{"unknown to the KDC", kdc(t, errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN), withKeytab("alice"), "the KDC of R.TEST does not know alice@R.TEST"},
		{"wrong realm at the KDC", kdc(t, errorcode.KDC_ERR_WRONG_REALM), withKeytab("alice"), "the KDC does not serve the realm R.TEST"},
		{"old key", kdc(t, errorcode.KDC_ERR_PREAUTH_FAILED), withKeytab("alice"), "alice@R.TEST: "},
		{"another error", kdc(t, errorcode.KDC_ERR_POLICY), withKeytab("alice"), "alice@R.TEST: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := setUp(t, test.kdc)
			writeKeytab(t, filepath.Join(dir, "keytab"))
			if test.prepare != nil {
				test.prepare(t, dir)
			}
			l, err := New()
			if err == nil {
				l.Close()
				t.Fatal("no error")
			}
			if test.name == "no principal" {
				if _, of := User(); of == nil || of.Error() != err.Error() {
					t.Errorf("the user: %v", of)
				}
			}
			got, ok := strings.CutPrefix(strings.ReplaceAll(err.Error(), dir, "DIR"), "login with Kerberos: ")
			if !ok || got != test.want && !(strings.HasSuffix(test.want, ": ") && strings.HasPrefix(got, test.want)) || strings.Contains(got, "\n") {
				t.Errorf("%s\nwant %s", err, test.want)
			}
		})
	}
}

// withKeytab returns a function that sets a principal for the keytab.
func withKeytab(principal string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Setenv(Keytab, filepath.Join(dir, "keytab"))
		t.Setenv(Principal, principal)
	}
}

// TestCache logs in with a cache, and checks that a ticket that kinit adds replaces the first one,
// that one that is still valid outlasts a cache that is damaged, and the error of a service that
// the KDC does not know.
func TestCache(t *testing.T) {
	dir := setUp(t, kdc(t, errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN))
	file := filepath.Join(dir, "cache")
	first := time.Now().Add(2 * time.Hour).Truncate(time.Second)
	writeCache(t, file, first, time.Time{})
	if user, err := User(); user != "alice" || err != nil {
		t.Errorf("user %q, %v", user, err)
	}
	l, err := New()
	must.OK(t, err)
	defer l.Close()
	if l.Name() != "alice@R.TEST" || l.User() != "alice" || !l.end.Equal(first) {
		t.Errorf("%s, until %v", l.Name(), l.end)
	}
	second := first.Add(time.Hour)
	writeCache(t, file, second, time.Time{})
	if err := os.Chtimes(file, first, first); err != nil { // another time, on any file system
		t.Fatal(err)
	}
	before := l.client
	go l.Name() // for the race detector
	c, err := l.Client()
	if err != nil || c == before || !l.end.Equal(second) {
		t.Errorf("after kinit: %v, until %v", err, l.end)
	}
	if _, err := l.For("hdfs/localhost"); err == nil || err.Error() != "login with Kerberos: the KDC of R.TEST does not know hdfs/localhost: is the cluster in another realm?" {
		t.Error(err)
	}
	whole, err := os.ReadFile(file)
	must.OK(t, err)
	for n := range whole {
		must.OK(t, os.WriteFile(file, whole[:n], 0o600))
		if cache, err := loadCache(file); err == nil && len(cache.Credentials) > 0 {
			t.Errorf("%d of %d bytes of a cache: no error", n, len(whole))
		}
	}
	must.OK(t, os.WriteFile(file, whole[:len(whole)-1], 0o600))
	if after, err := l.Client(); err != nil || after != c {
		t.Errorf("with a damaged cache: %v", err)
	}
	l.end = time.Now()
	if _, err := l.Client(); err == nil {
		t.Error("no error after the end of the ticket")
	}
}

// TestEnviron checks the variables for Hadoop's programs.
func TestEnviron(t *testing.T) {
	t.Setenv(confName, "/k")
	t.Setenv(cacheName, "FILE:/c")
	t.Setenv("HADOOP_OPTS", "-Da=b")
	if got, want := Environ(), append(os.Environ(), "HADOOP_OPTS=-Da=b -Djava.security.krb5.conf=/k", "KRB5CCNAME=/c"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	t.Setenv(confName, "")
	t.Setenv(cacheName, "/c")
	if got := Environ(); !slices.Equal(got, os.Environ()) {
		t.Errorf("%q", got)
	}
}

// TestTransport sends requests, which are sent again with the ticket of the service, whose
// name is in lower case. A server that asks for another kind of authentication gets no ticket.
func TestTransport(t *testing.T) {
	dir := setUp(t, kdc(t, errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN))
	writeCache(t, filepath.Join(dir, "cache"), time.Now().Add(2*time.Hour), time.Time{})
	l, err := New()
	must.OK(t, err)
	defer l.Close()
	service := credentials.Credential{AuthTime: time.Now().Add(-time.Hour), StartTime: time.Now().Add(-time.Hour), EndTime: l.end, Key: sessionKey}
	service.Server.Realm, service.Server.PrincipalName = "R.TEST", types.NewPrincipalName(2, "HTTP/localhost")
	ticketOfService := aTicket
	ticketOfService.SName = service.Server.PrincipalName
	service.Ticket = must.Get(ticketOfService.Marshal())(t)
	cache := must.Get(loadCache(l.file))(t)
	cache.Credentials = append(cache.Credentials, &service)
	l.client = must.Get(client.NewFromCCache(cache, l.config, client.DisablePAFXFAST(true)))(t)
	var scheme string
	var requests []string // whether there was a ticket
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := strings.HasPrefix(r.Header.Get("Authorization"), "Negotiate ")
		requests = append(requests, fmt.Sprint(given))
		if !given {
			w.Header().Set(spnego.HTTPHeaderAuthResponse, scheme)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	web := &http.Client{Transport: l.Transport(new(http.Transport))}
	for _, test := range []struct {
		scheme, requests string
		status           int
	}{
		{"Negotiate", "false, true", http.StatusOK},
		{"Basic", "false", http.StatusUnauthorized},
	} {
		scheme, requests = test.scheme, nil
		answer, err := web.Get(strings.Replace(server.URL, "127.0.0.1", "LOCALHOST", 1))
		must.OK(t, err)
		answer.Body.Close()
		if got := strings.Join(requests, ", "); answer.StatusCode != test.status || got != test.requests {
			t.Errorf("%s: %s; requests %s, want %s", test.scheme, answer.Status, got, test.requests)
		}
	}
}
