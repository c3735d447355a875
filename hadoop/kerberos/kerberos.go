// Package kerberos logs in to a Kerberos realm in the way of Hadoop's own programs: with a keytab,
// or with the ticket cache that kinit wrote. It knows nothing of HDFS and YARN.
package kerberos

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/spnego"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Environment variables of Hadoop's programs (Keytab and Principal) and of Kerberos.
const (
	Keytab    = "KRB5KEYTAB"
	Principal = "KRB5PRINCIPAL"
	cacheName = "KRB5CCNAME"
	confName  = "KRB5_CONFIG"
)

// defaultConf is the configuration unless KRB5_CONFIG names another file.
const defaultConf = "/etc/krb5.conf"

// A Login is the identity of this process in a realm, with a ticket. It is safe for concurrent use.
type Login struct {
	config *config.Config
	keytab *keytab.Keytab // nil: the ticket comes from a cache
	file   string         // the keytab or the cache
	name   types.PrincipalName
	realm  string

	mu     sync.Mutex
	client *client.Client // renews the ticket of a keytab
	read   time.Time      // modification time of the cache when it was read
	end    time.Time      // of the ticket in the cache
}

// New logs in with the keytab in KRB5KEYTAB and the principal in KRB5PRINCIPAL, or else with the
// ticket cache in KRB5CCNAME, by default that of the user. Errors are one line.
func New() (*Login, error) {
	l := new(Login)
	if err := l.open(); err != nil {
		return nil, failed(err)
	}
	if _, err := l.Client(); err != nil {
		return nil, err
	}
	return l, nil
}

// open reads krb5.conf, and the keytab or the cache.
func (l *Login) open() error {
	conf := cmp.Or(os.Getenv(confName), defaultConf)
	f, err := os.Open(conf)
	if err != nil {
		return fmt.Errorf("no configuration: %w (%s names the file)", err, confName)
	}
	defer f.Close()
	l.config, err = config.NewFromReader(f)
	if err != nil && !errors.As(err, new(config.UnsupportedDirective)) {
		return fmt.Errorf("%s: %w", conf, err)
	}
	if principal := os.Getenv(Principal); principal != "" {
		l.name, l.realm = types.ParseSPNString(principal)
		l.realm = cmp.Or(l.realm, l.config.LibDefaults.DefaultRealm)
	}
	if l.file = os.Getenv(Keytab); l.file != "" {
		return l.openKeytab()
	}
	if l.file, err = cacheFile(); err != nil {
		return err
	}
	return l.readCache()
}

// cacheFile returns the file of the ticket cache.
func cacheFile() (string, error) {
	name := cmp.Or(os.Getenv(cacheName), fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid()))
	kind, file, found := strings.Cut(name, ":")
	switch {
	case !found || strings.HasPrefix(name, "/"):
		return name, nil
	case kind == "FILE":
		return file, nil
	}
	return "", fmt.Errorf("%s=%s: only a file can be the ticket cache, as in %[1]s=FILE:/tmp/tickets", cacheName, name)
}

// User returns the user that New would log in as: the first part of the principal's name.
func User() (string, error) {
	l := new(Login)
	if err := l.open(); err != nil {
		return "", failed(err)
	}
	return l.User(), nil
}

// Environ returns the environment in which Hadoop's programs log in as New does.
func Environ() []string {
	env := os.Environ()
	if conf := os.Getenv(confName); conf != "" {
		env = append(env, "HADOOP_OPTS="+os.Getenv("HADOOP_OPTS")+" -Djava.security.krb5.conf="+conf)
	}
	if file, ok := strings.CutPrefix(os.Getenv(cacheName), "FILE:"); ok {
		env = append(env, cacheName+"="+file)
	}
	return env
}

// Close ends the renewal of the ticket. It may be called more than once.
func (l *Login) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.client.Destroy()
}

// Name returns the principal.
func (l *Login) Name() string { return l.name.PrincipalNameString() + "@" + l.realm }

// User returns the first part of the principal's name.
func (l *Login) User() string { return l.name.NameString[0] }

// Client returns a client with a valid ticket. It asks the KDC only if the ticket of a keytab has ended.
func (l *Login) Client() (*client.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.keytab != nil {
		err = l.explain(l.client.AffirmLogin(), "")
	} else {
		err = l.refresh()
	}
	if err != nil {
		return nil, failed(err)
	}
	return l.client, nil
}

// For returns a client that has a ticket for a service, for example HTTP/host.
func (l *Login) For(service string) (*client.Client, error) {
	c, err := l.Client()
	if err != nil {
		return nil, err
	}
	if _, _, err := c.GetServiceTicket(service); err != nil {
		return nil, failed(l.explain(err, service))
	}
	return c, nil
}

// refresh reads the cache if it has changed, because kinit may have replaced the ticket. If it cannot be read, the ticket
// remains until it ends.
func (l *Login) refresh() error {
	info, err := os.Stat(l.file)
	if err == nil && !info.ModTime().Equal(l.read) {
		if err = l.readCache(); err == nil {
			l.read = info.ModTime()
		}
	}
	if time.Now().Before(l.end) {
		return nil
	}
	return cmp.Or(err, fmt.Errorf("the ticket of %s in %s ended at %v: run kinit", l.Name(), l.file, l.end.Format(time.DateTime)))
}

// openKeytab reads the keytab, which must have a key of the principal.
func (l *Login) openKeytab() error {
	if len(l.name.NameString) == 0 {
		return fmt.Errorf("the keytab %s needs a principal (--principal, or %s in the environment)", l.file, Principal)
	}
	kt, err := keytab.Load(l.file)
	if errors.As(err, new(*fs.PathError)) {
		return fmt.Errorf("no keytab: %w", err)
	}
	if err != nil { // the error contains keys
		return fmt.Errorf("the keytab %s is damaged", l.file)
	}
	var names []string
	for _, e := range kt.Entries {
		names = append(names, e.Principal.String())
	}
	if !slices.Contains(names, l.Name()) {
		slices.Sort(names)
		return fmt.Errorf("the keytab %s has no key of %s (it has keys of %s)", l.file, l.Name(), strings.Join(slices.Compact(names), ", "))
	}
	l.keytab = kt
	l.client = client.NewWithKeytab(l.name.PrincipalNameString(), l.realm, kt, l.config, client.DisablePAFXFAST(true))
	return nil
}

// A transport authenticates with servers that ask for it, by SPNEGO.
type transport struct {
	login *Login
	base  http.RoundTripper
}

// Transport returns a transport that authenticates with servers that ask for it, by SPNEGO. Requests must have no body.
func (l *Login) Transport(base http.RoundTripper) http.RoundTripper { return &transport{l, base} }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.base.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(answer.Header.Get(spnego.HTTPHeaderAuthResponse), spnego.HTTPHeaderAuthResponseValueKey) {
		return answer, err
	}
	answer.Body.Close()
	service := "HTTP/" + strings.ToLower(r.URL.Hostname())
	c, err := t.login.For(service)
	if err != nil {
		return nil, err
	}
	again := r.Clone(r.Context())
	if err := spnego.SetSPNEGOHeader(c, again, service); err != nil {
		return nil, failed(t.login.explain(err, service))
	}
	return t.base.RoundTrip(again)
}
