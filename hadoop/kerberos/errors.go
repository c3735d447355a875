package kerberos

import (
	"fmt"
	"slices"
	"strings"
)

// causes are the frequent errors of Kerberos: what gokrb5's error contains, and what it means. %[1]s
// is the principal, %[2]s its realm, %[3]s the service, %[4]s the file of the keytab or cache.
var causes = []struct {
	texts   []string
	meaning string
}{
	{[]string{"KRB_AP_ERR_SKEW", "clock skew", "KDC_ERR_NEVER_VALID"}, "the clock of this machine and that of the KDC of %[2]s differ too much"},
	{[]string{"KDC_ERR_C_PRINCIPAL_UNKNOWN"}, "the KDC of %[2]s does not know %[1]s"},
	{[]string{"KDC_ERR_S_PRINCIPAL_UNKNOWN"}, "the KDC of %[2]s does not know %[3]s: is the cluster in another realm?"},
	{[]string{"KDC_ERR_WRONG_REALM", "client referrals"}, "the KDC does not serve the realm %[2]s"},
	{[]string{"KRB_AP_ERR_BAD_INTEGRITY", "KDC_ERR_PREAUTH_FAILED", "password/keytab incorrect"}, "the key of %[1]s in %[4]s is not the one that the KDC has"},
	{[]string{"matching key not found"}, "%[4]s has no key of %[1]s with the encryption that the KDC wants"},
	{[]string{"KRB_AP_ERR_TKT_EXPIRED"}, "the ticket of %[1]s has ended: run kinit"},
	{[]string{"no KDCs defined", "not have any defined KDCs"}, "krb5.conf has no KDC of the realm %[2]s"},
	{[]string{"communicate with KDC", "communication error with KDC"}, "no KDC of %[2]s answers"},
}

// explain returns one line for an error of gokrb5, which are long and have no types. service is
// "" if the error does not concern the ticket for a service.
func (l *Login) explain(err error, service string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, c := range causes {
		if slices.ContainsFunc(c.texts, func(one string) bool { return strings.Contains(text, one) }) {
			return fmt.Errorf(c.meaning, l.Name(), l.realm, service, l.file)
		}
	}
	line, _, _ := strings.Cut(text, "\n")
	return fmt.Errorf("%s: %s", l.Name(), line)
}

// failed returns the error of a login.
func failed(err error) error { return fmt.Errorf("login with Kerberos: %w", err) }
