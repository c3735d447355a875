// Package kerberos logs in to a Kerberos realm in the way of Hadoop's own programs: with a keytab,
// or with the ticket cache that kinit wrote. It keeps the ticket valid during a run that takes
// longer than a ticket. It knows nothing of HDFS and YARN.
package kerberos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
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

const (
	// checkEvery is the pause between checks of the ticket and of the cache.
	checkEvery = 5 * time.Second
	// tries is how often a new ticket is asked for before the present one ends. A KDC may lock an
	// account after a few wrong keys.
	tries = 10
	// endedWait bounds the pause between tries after the ticket has ended.
	endedWait = time.Minute
	// maxBody is how much of an answer is read so that its connection can be used again.
	maxBody = 64 << 10
)

// A Login is the identity of this process in a realm, with a ticket. It is safe for concurrent use.
type Login struct {
	config *config.Config
	keytab *keytab.Keytab // nil: the ticket comes from a cache
	file   string         // the keytab or the cache
	name   types.PrincipalName
	realm  string
	stop   context.CancelFunc
	ticket atomic.Pointer[ticket]

	mu    sync.Mutex // held while the ticket is replaced, also while a KDC is asked
	tried time.Time  // when the last request for a new ticket ended
	err   error      // error of that request
	read  time.Time  // modification time of the cache when it was read
}

// A ticket is the ticket of a Login.
type ticket struct {
	*credentials.Credential
	client *client.Client // with this ticket
}

// valid reports whether there is a ticket and it has not ended.
func (t *ticket) valid() bool { return t != nil && time.Now().Before(t.EndTime) }

// New logs in with the keytab in KRB5KEYTAB and the principal in KRB5PRINCIPAL, or else with the
// ticket cache in KRB5CCNAME, by default that of the user. Errors are one line.
func New() (*Login, error) {
	l := new(Login)
	if err := l.open(); err != nil {
		return nil, failed(err)
	}
	if _, err := l.update(); err != nil {
		return nil, err
	}
	var ctx context.Context
	ctx, l.stop = context.WithCancel(context.Background())
	go l.keep(ctx)
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
	if principal := os.Getenv(Principal); principal != "" {
		name, _ := types.ParseSPNString(principal)
		return name.NameString[0], nil
	}
	if file := os.Getenv(Keytab); file != "" {
		return "", failed(noPrincipal(file))
	}
	file, err := cacheFile()
	if err != nil {
		return "", failed(err)
	}
	cache, err := loadCache(file)
	if err != nil {
		return "", failed(err)
	}
	return cache.DefaultPrincipal.PrincipalName.NameString[0], nil
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

// keep refreshes the ticket until Close.
func (l *Login) keep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(checkEvery):
			l.update() // an error is returned again when a client is needed
		}
	}
}

// Close stops the refreshing of the ticket. It may be called more than once.
func (l *Login) Close() { l.stop() }

// Name returns the principal.
func (l *Login) Name() string { return l.name.PrincipalNameString() + "@" + l.realm }

// User returns the first part of the principal's name.
func (l *Login) User() string { return l.name.NameString[0] }

// Client returns a client with a valid ticket. It asks the KDC only if the ticket has ended.
func (l *Login) Client() (*client.Client, error) {
	if t := l.ticket.Load(); t.valid() {
		return t.client, nil
	}
	return l.update()
}

// update refreshes the ticket, and returns a client with it.
func (l *Login) update() (*client.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil && !l.ticket.Load().valid() {
		return nil, failed(err)
	}
	return l.ticket.Load().client, nil
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

// refresh reads the cache if it has changed. With a keytab it replaces the ticket if a half of its
// time has passed, and limits how often it asks the KDC: until the next request, it returns the error
// of the last one. The first request after the end of the ticket is not delayed.
func (l *Login) refresh() error {
	if l.keytab == nil {
		info, err := os.Stat(l.file)
		if err == nil && !info.ModTime().Equal(l.read) {
			if err := l.readCache(); err != nil {
				return err
			}
			l.read = info.ModTime()
		}
		if t := l.ticket.Load(); !t.valid() {
			return fmt.Errorf("the ticket of %s in %s ended at %v: run kinit", l.Name(), l.file, t.EndTime.Format(time.DateTime))
		}
		return nil
	}
	if t := l.ticket.Load(); t != nil {
		half := min(t.EndTime.Sub(t.AuthTime), t.EndTime.Sub(t.StartTime)) / 2
		wait := half / tries
		ended := !t.valid()
		if ended {
			wait = min(wait, endedWait)
		}
		switch {
		case time.Until(t.EndTime) > half:
			return nil
		case time.Since(l.tried) < wait && ended == l.tried.After(t.EndTime):
			return l.err
		}
	}
	l.err = l.explain(l.logIn(), "")
	l.tried = time.Now()
	return l.err
}

// noPrincipal returns the error of a keytab without the name of a principal.
func noPrincipal(file string) error {
	return fmt.Errorf("the keytab %s needs a principal (--principal, or %s in the environment)", file, Principal)
}

// openKeytab reads the keytab, which must have a key of the principal.
func (l *Login) openKeytab() error {
	if len(l.name.NameString) == 0 {
		return noPrincipal(l.file)
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
	return nil
}

// logIn gets a ticket with the keytab.
func (l *Login) logIn() error {
	c := client.NewWithKeytab(l.name.PrincipalNameString(), l.realm, l.keytab, l.config, client.DisablePAFXFAST(true))
	request, err := messages.NewASReqForTGT(l.realm, l.config, c.Credentials.CName())
	if err != nil {
		return err
	}
	reply, err := c.ASExchange(l.realm, request, 0)
	if err != nil {
		return err
	}
	return l.adopt(reply.Ticket, reply.DecryptedEncPart)
}

// service returns the name of the service whose ticket is the ticket of a Login.
func (l *Login) service() types.PrincipalName {
	return types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", l.realm}}
}

// adopt makes a ticket from a KDC the ticket of l.
func (l *Login) adopt(ticket messages.Ticket, part messages.EncKDCRepPart) error {
	b, err := ticket.Marshal()
	if err != nil {
		return err
	}
	t := &credentials.Credential{
		Key: part.Key, AuthTime: part.AuthTime, StartTime: part.StartTime, EndTime: part.EndTime, RenewTill: part.RenewTill,
		TicketFlags: part.Flags, Ticket: b,
	}
	t.Server.Realm, t.Server.PrincipalName = l.realm, l.service()
	return l.use(t)
}

// use makes t the ticket of l. The client does not renew it.
func (l *Login) use(t *credentials.Credential) error {
	cache := &credentials.CCache{Credentials: []*credentials.Credential{t}}
	cache.DefaultPrincipal.Realm, cache.DefaultPrincipal.PrincipalName = l.realm, l.name
	c, err := client.NewFromCCache(cache, l.config, client.DisablePAFXFAST(true))
	if err != nil {
		return err
	}
	l.ticket.Store(&ticket{t, c})
	return nil
}

// A transport authenticates with servers that ask for it, by SPNEGO.
type transport struct {
	login *Login
	base  http.RoundTripper
}

// Transport returns a transport that authenticates with servers that ask for it, by SPNEGO.
func (l *Login) Transport(base http.RoundTripper) http.RoundTripper { return &transport{l, base} }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.base.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(answer.Header.Get(spnego.HTTPHeaderAuthResponse), spnego.HTTPHeaderAuthResponseValueKey) {
		return answer, err
	}
	io.CopyN(io.Discard, answer.Body, maxBody)
	answer.Body.Close()
	service := "HTTP/" + strings.ToLower(r.URL.Hostname())
	c, err := t.login.For(service)
	if err != nil {
		return nil, err
	}
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	if err := spnego.SetSPNEGOHeader(c, again, service); err != nil {
		return nil, failed(t.login.explain(err, service))
	}
	return t.base.RoundTrip(again)
}
