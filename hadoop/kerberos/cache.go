package kerberos

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
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
	ticket, ok := cache.GetEntry(types.PrincipalName{NameType: nametype.KRB_NT_SRV_INST, NameString: []string{"krbtgt", realm}})
	if !ok {
		return fmt.Errorf("no ticket of %s in %s: run kinit", l.Name(), l.file)
	}
	cache.Credentials = []*credentials.Credential{ticket} // a damaged ticket of a service is no error
	c, err := client.NewFromCCache(cache, l.config, client.DisablePAFXFAST(true))
	if err == nil {
		l.client, l.end = c, ticket.EndTime
	}
	return err
}
