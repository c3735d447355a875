package hadoop

import (
	"fmt"
	"testing"

	"github.com/colinmarc/hdfs/v2/hadoopconf"
)

// umasks are values of umaskMode, and what Hadoop's FsPermission.getUMask returns; "": an error.
var umasks = []struct{ value, want string }{
	{"022", "0022"}, {"0022", "0022"}, {"00022", "0022"}, {" 027 ", "0027"}, {"777", "0777"},
	{"+022", ""}, {"22", ""}, {"18", ""}, {"1022", ""}, {"778", ""}, {"", ""}, {"u", ""},
	{"u=rwx,g=rx,o=rx", "0022"}, {"u=rwx, g=rwx,o=", "0007"}, {"u=rwx,g=rx,o=rx,", "0022"}, {"a=rx", "0222"}, {"=rwx", "0000"},
	{"u=rwx", "0077"}, {"ug=rwx", "0007"}, {"u=rwx,u=r", "0377"}, {"u+rwx,g-w", "0077"}, {"go-rwx", "0777"}, {"u+-rw", "0777"},
	{"u=rwX", ""}, {"u=rwxt", ""}, {"u=rwx g=rx", ""}, {" u = rwx", ""},
}

// TestUmask parses umasks. TestHadoopUmask compares the table with Hadoop.
func TestUmask(t *testing.T) {
	if mask, err := parseUmask(nil); err != nil || mask != 0o022 {
		t.Errorf("by default: %o, %v", mask, err)
	}
	for _, test := range umasks {
		mask, err := parseUmask(hadoopconf.HadoopConf{umaskMode: test.value})
		got := fmt.Sprintf("%04o", int(mask))
		if err != nil {
			got = ""
		}
		if got != test.want {
			t.Errorf("%q: %q, want %q (%v)", test.value, got, test.want, err)
		}
	}
}
