#!/usr/bin/env bash
# pipe.sh solves Connect N with the steps as text filters: each job is a map, a sort and a reduce. It
# prints each command as a user would type it.
#
#	scripts/pipe.sh WIDTH HEIGHT CONNECT DIRECTORY
#
# DIRECTORY must not exist, or be from an earlier run of this script. It gets a folder for each job,
# named as in the course's all_data, with one shard. The programs are those of bin. The file in final
# has the name that the course's TUI.py reads.
set -euo pipefail

if [ $# != 4 ]; then
	echo 'usage: scripts/pipe.sh WIDTH HEIGHT CONNECT DIRECTORY' >&2
	exit 2
fi
export treereduce_width=$1 treereduce_height=$2 treereduce_connect=$3 LC_ALL=C
dir=$4
case $dir in -*) dir=./$dir ;; esac
printf -v quoted %q "$dir" # as a word of the commands that run prints and evaluates
tiers=$(($1 * $2))
mark=$dir/made-by-pipe
if [ -e "$dir" ] && [ ! -e "$mark" ]; then
	echo "pipe.sh: $dir exists, and this script did not create it: set PIPE_DATA to another directory" >&2
	exit 1
fi
rm -rf "$dir"
mkdir -p "$dir"
touch "$mark"

# run prints a command and runs it. It omits the counters that the steps print.
run() {
	echo "\$ $1"
	eval "$1" 2>"$dir/errors" || {
		grep -v '^reporter:' "$dir/errors" >&2 || true
		exit 1
	}
}

# made creates the folder of a job, and prints the quoted name of its shard.
made() {
	mkdir -p "$dir/$1"
	echo "$quoted/$1/part-00000"
}

echo "\$ export treereduce_width=$1 treereduce_height=$2 treereduce_connect=$3 LC_ALL=C"
run "echo | bin/init_map | sort | bin/init_reduce >$(made data_first0)"
last=0
for ((tier = 1; tier <= tiers; tier++)); do
	run "cat $quoted/data_first$((tier - 1))/part-* | bin/possible_map | sort | bin/possible_reduce >$(made data_first$tier)"
	last=$tier
done
children="$quoted/data_first$last/part-*"
turns=(X O)
for ((tier = tiers - 1; tier >= 0; tier--)); do
	run "cat $quoted/data_first$tier/part-* $children | bin/solve_map --turn ${turns[tier % 2]} | sort -t\$'\\t' -k1,1 -s | bin/solve_reduce >$(made data_second$tier)"
	children="$quoted/data_second$tier/part-*"
done
mkdir -p "$dir/final"
final=$dir/final/part-r-00000
run "cat $quoted/data_second*/part-* $quoted/data_first$last/part-* | bin/final_map | sort | bin/final_reduce >$quoted/final/part-r-00000"
rm -f "$dir/errors"
echo "$(($(wc -l <"$final"))) lines in $final"
