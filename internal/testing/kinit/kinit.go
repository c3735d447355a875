// Package kinit writes ticket caches, as kinit does.
package kinit

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// LogIn writes the ticket cache of a principal whose key is in a keytab.
func LogIn(conf, keys, principal, file string) error {
	name, realm := types.ParseSPNString(principal)
	c, err := config.Load(conf)
	if err != nil {
		return err
	}
	kt, err := keytab.Load(keys)
	if err != nil {
		return err
	}
	request, err := messages.NewASReqForTGT(realm, c, name)
	if err != nil {
		return err
	}
	reply, err := client.NewWithKeytab(name.PrincipalNameString(), realm, kt, c, client.DisablePAFXFAST(true)).ASExchange(realm, request, 0)
	if err != nil {
		return err
	}
	ticket, err := reply.Ticket.Marshal()
	if err != nil {
		return err
	}
	part := reply.DecryptedEncPart
	t := &credentials.Credential{Key: part.Key, AuthTime: part.AuthTime, StartTime: part.StartTime, EndTime: part.EndTime,
		RenewTill: part.RenewTill, TicketFlags: part.Flags, Ticket: ticket}
	t.Server.Realm, t.Server.PrincipalName = realm, reply.Ticket.SName
	return Save(file, name, realm, t)
}

// Save writes a ticket cache of a principal with one ticket.
func Save(file string, name types.PrincipalName, realm string, t *credentials.Credential) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".") // only the user can read it
	if err != nil {
		return err
	}
	_, err = f.Write(Cache(name, realm, t))
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
