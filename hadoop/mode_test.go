package hadoop

import (
	"fmt"
	"testing"

	"github.com/colinmarc/hdfs/v2/hadoopconf"
)

// TestUmask parses umasks of octal digits, which mean what Hadoop reads (testUmask); "": an error.
func TestUmask(t *testing.T) {
	if mask, err := parseUmask(nil); err != nil || mask != 0o022 {
		t.Errorf("by default: %o, %v", mask, err)
	}
	for _, test := range []struct{ value, want string }{
		{"022", "0022"}, {"0022", "0022"}, {"00022", "0022"}, {" 027 ", "0027"}, {"777", "0777"},
		{"+022", ""}, {"22", ""}, {"18", ""}, {"1022", ""}, {"778", ""}, {"", ""}, {"u", ""}, {"u=rwx,g=rx,o=rx", ""},
	} {
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
