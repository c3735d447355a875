#!/usr/bin/env bash
# bench.sh runs the Go benchmarks whose figures are in docs/. It prints the values of COUNT runs, and
# then their medians if benchstat can be downloaded.
#
#	scripts/bench.sh [solve]        commands of bin/, directories, look-ups, syncs
#	scripts/bench.sh sync           durable writes
#	scripts/bench.sh table          look-ups in a table, its bits by kind
#	scripts/bench.sh search         Connect Four, and BitBully on the same positions
#	scripts/bench.sh moves N TIME   how many of N moves (at most 222) of Connect Four lose value, with TIME each
#	scripts/bench.sh evaluation N   moves of Connect Four that play web marks best after a second, of N (1000)
#	scripts/bench.sh book N         the opening book, N positions (200) compared with searches: half an hour
#	scripts/bench.sh network        depth of Network's search in five seconds
#	scripts/bench.sh mancala        the search of Mancala
#	scripts/bench.sh web            play web under load, with a table of 5×5
#	scripts/bench.sh counts DRAWS   numbers of positions, each counted with DRAWS random draws
#	scripts/bench.sh plan           plans, and solves of the same boards
#	scripts/bench.sh levels         matches between neighbouring levels, for docs/notes/play.md
#	scripts/bench.sh hadoop         jobs on a cluster that it starts on this machine
#	scripts/bench.sh tax            the largest tiers of 6×5 on that cluster and in the driver
#	scripts/bench.sh slow           a job on three nodes, one of them slow, with and without speculative attempts
#	scripts/bench.sh scale          6×5 on clusters of one to three nodes, beside plans: half an hour
#
# Environment: COUNT is the number of runs of short benchmarks (default 5); TREEREDUCE_LONG=1 adds
# benchmarks that take minutes; TREEREDUCE_BIN is the directory of the commands (default bin);
# TREEREDUCE_VALUES is a file that keeps the exact values of "evaluation" between runs.
set -euo pipefail
cd "$(dirname "$0")/.."
export TREEREDUCE_BIN=${TREEREDUCE_BIN:-$PWD/bin}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# run PATTERN PACKAGE [FLAG…] runs the benchmarks whose names match.
run() {
	${GO:-go} test -run '^$' -timeout 5h -bench "$1" "${@:3}" "$2" | tee -a "$out/all.txt"
}
often="-benchtime=1x -count=${COUNT:-5}"

case ${1:-solve} in
solve)
	run '^BenchmarkSolve$' ./internal/testing/bench $often
	run 'LongSolve|Rules|Disk|Streams' ./internal/testing/bench -benchtime=1x
	run Lookup ./internal/engine/solve
	run Sync ./internal/engine/solve -count="${COUNT:-5}"
	;;
sync) run Sync ./internal/engine/solve -count="${COUNT:-5}" ;;
table) run 'Lookup|Bits' ./internal/engine/solve -benchtime=3x ;;
search)
	TREEREDUCE_POSITIONS=$out run 'Whole|Sets|Techniques' ./search
	scripts/bitbully.sh "$out"
	;;
moves) TREEREDUCE_MOVES=$2 TREEREDUCE_MOVE_TIME=$3 run Moves ./search ;;
evaluation) COUNT=1 && TREEREDUCE_EVALUATION=${2:-1000} run Evaluation ./play/internal/analysis -benchtime=1x ;;
book) COUNT=1 && TREEREDUCE_BOOK=${2:-200} run Book ./play/internal/book -benchtime=1x ;;
network) run Horizon ./game/network ;;
mancala) run 'Endgames|Second|Whole' ./game/mancala ;;
counts) TREEREDUCE_DRAWS=$2 run Count ./internal/plan/count ;;
web) run Web ./internal/testing/bench $often ;;
plan) run Plan ./internal/testing/bench -benchtime=1x ;;
levels) COUNT=1 && run Levels ./play/internal/referee -benchtime=1x ;;
hadoop) run Hadoop ./internal/testing/bench $often ;;
tax) run Tax ./internal/testing/bench $often ;;
slow) run Slow ./internal/testing/bench $often ;;
scale) COUNT=1 && run Scale ./internal/testing/bench -benchtime=1x ;;
*)
	sed -n 's/^#	//p' "$0" >&2
	exit 2
	;;
esac
if [ "${COUNT:-5}" -gt 1 ] && [ "${1:-solve}" != search ]; then
	${GO:-go} run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da "$out/all.txt" 2>/dev/null || echo 'benchstat: not installed'
fi
