package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/minicluster"
)

// stub is a driver for three runs with jobs on the cluster and three without, which reports
// tier 23 in both kinds of runs, and another tier in only one kind.
const stub = `#!/bin/sh
dir=$(dirname "$0")
if [ "$1" = solve ]; then
	echo "$*" >>"$dir/runs"
	exit
fi
run=$(wc -l <"$dir/runs")
case $(tail -1 "$dir/runs") in
*"connectn --width 6 --height 5 --connect 4 --final no --cluster-above 300 --data"*)
	job() { printf '{"job":"%s","step":"%s","tier":%d,"records":%d,"seconds":%d,"waiting":%d,"application":"application_1_1"}' "$@"; }
	case $run in
	1) a=27 b=40 ;;
	3) a=20 b=30 ;;
	5) a=30 b=35 ;;
	esac ;;
*)
	job() { printf '{"job":"%s","step":"%s","tier":%d,"records":%d,"seconds":%d}' "$1" "$2" "$3" "$4" "$5"; }
	case $run in
	2) a=8 b=7 ;;
	4) a=10 b=7 ;;
	6) a=9 b=10 ;;
	esac ;;
esac
echo "{\"jobs\":[$(job data_first23 possible 23 378 $a 12),$(job data_second23 solve 23 378 $b 13),$(job data_second22 solve 22 338 5 1)]}"
`

// TestTax checks the medians; for the sum of both jobs, the median of the sums.
func TestTax(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "driver"), []byte(stub), 0o777); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	b := &clusterBench{bencher: &bencher{Options{Bin: bin, Runs: 3, Board: "--width 6 --height 5 --connect 4", Above: 300}, &out, t.TempDir()}, c: new(minicluster.Cluster)}
	if err := b.tax(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "| `--width 6 --height 5 --connect 4`, medians of 3 | positions | driver s | cluster s | of that waiting s | times |\n" +
		`|---|---|---|---|---|---|
| possible, tier 22 to 23 | 378 | 9.0 | 27.0 | 12.0 | 3.0 |
| solve, tier 23 to 22 | 338 | 5.0 | 5.0 | 1.0 | 1.0 |
| solve, tier 24 to 23 | 378 | 7.0 | 35.0 | 13.0 | 5.0 |
| tier 23, both ways | 378 | 17.0 | 65.0 | 25.0 | 3.8 |
`
	if out.String() != want {
		t.Errorf("prints\n%s\nwant\n%s", &out, want)
	}
}
