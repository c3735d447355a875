package kerberos

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/types"
)

// loadCache reads a ticket cache.
func loadCache(file string) (cache *credentials.CCache, err error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no ticket: %s does not exist: run kinit, or use a keytab (--keytab, --principal)", file)
	}
	if err != nil {
		return nil, fmt.Errorf("no ticket: %w", err)
	}
	defer func() { // gokrb5 does not check lengths, and kinit may be writing the file
		if recover() != nil {
			err = fmt.Errorf("the ticket cache %s is damaged", file)
		}
	}()
	cache = new(credentials.CCache)
	if cache.Unmarshal(slices.Clip(b)) != nil || len(cache.DefaultPrincipal.PrincipalName.NameString) == 0 {
		return nil, fmt.Errorf("the ticket cache %s is damaged", file)
	}
	return cache, nil
}

// readCache takes the ticket from the cache.
func (l *Login) readCache() error {
	cache, err := loadCache(l.file)
	if err != nil {
		return err
	}
	name, realm := cache.DefaultPrincipal.PrincipalName, cache.DefaultPrincipal.Realm
	if len(l.name.NameString) == 0 {
		l.name, l.realm = name, realm // only in New, because other goroutines read them
	} else if !l.name.Equal(name) || l.realm != realm {
		return fmt.Errorf("the ticket cache %s belongs to %s@%s, not to %s", l.file, name.PrincipalNameString(), realm, l.Name())
	}
	ticket, ok := cache.GetEntry(l.service())
	if !ok {
		return fmt.Errorf("no ticket of %s in %s: run kinit", l.Name(), l.file)
	}
	return l.use(ticket)
}

// Save writes the ticket to a ticket cache, as kinit does. Only tests call it.
func (l *Login) Save(file string) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".") // only the user can read it
	if err != nil {
		return err
	}
	_, err = f.Write(Cache(l.name, l.realm, l.ticket.Load().Credential))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Cache returns a ticket cache of a principal with one ticket, in version 4 of the format.
func Cache(name types.PrincipalName, realm string, t *credentials.Credential) []byte {
	b := []byte{5, 4, 0, 0} // a header without fields
	number := func(n int) { b = binary.BigEndian.AppendUint32(b, uint32(n)) }
	data := func(d []byte) { number(len(d)); b = append(b, d...) }
	principal := func(p types.PrincipalName, realm string) {
		number(int(p.NameType))
		number(len(p.NameString))
		data([]byte(realm))
		for _, part := range p.NameString {
			data([]byte(part))
		}
	}
	for range 2 { // the principal of the cache, and of its only ticket
		principal(name, realm)
	}
	principal(t.Server.PrincipalName, t.Server.Realm)
	b = binary.BigEndian.AppendUint16(b, uint16(t.Key.KeyType))
	data(t.Key.KeyValue)
	for _, at := range []time.Time{t.AuthTime, t.StartTime, t.EndTime, t.RenewTill} {
		number(int(max(0, at.Unix())))
	}
	b = append(b, 0) // not encrypted in another ticket's key
	var flags [4]byte
	copy(flags[:], t.TicketFlags.Bytes)
	b = append(b, flags[:]...)
	number(0) // addresses
	number(0) // authorization data
	data(t.Ticket)
	data(nil) // second ticket
	return b
}
