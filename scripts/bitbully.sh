#!/usr/bin/env bash
# bitbully.sh measures the CPU time of BitBully (from PyPI, for comparison only) on the positions of
# the benchmarks of package search, in µs per position. Each set is solved repeatedly for a second,
# and the median is printed. BitBully must find the same winner as our search.
#
#	scripts/bitbully.sh DIRECTORY
#
# DIRECTORY contains the positions: the benchmarks write them with TREEREDUCE_POSITIONS=DIRECTORY.
set -euo pipefail

if [ $# != 1 ]; then
	echo 'usage: scripts/bitbully.sh DIRECTORY' >&2
	exit 2
fi
if ! { python3 -m venv "$1/venv" && "$1/venv/bin/python" -m pip install -q bitbully==0.0.79; } 2>/dev/null; then
	echo 'BitBully: not installed'
	exit
fi
for name in late middle early eight hard whole; do
	[ -e "$1/$name.txt" ] || continue
	echo -n "BitBully, $name, exact, CPU µs per position: "
	timeout 600 "$1/venv/bin/python" -c '
import statistics, sys, time
from bitbully import bitbully_core as core
boards, wins = [], []
for line in sys.stdin:
    *rows, win = line.split()
    board = core.BoardCore()
    assert board.setBoard([[int(s) for s in row] for row in rows]), line
    boards.append(board)
    wins.append(int(win))
took = []
while sum(took) < 1:
    solver = core.BitBullyCore()
    began = time.process_time()
    scores = [solver.mtdf(board, 0) for board in boards]
    took.append(time.process_time() - began)
assert [(s > 0) - (s < 0) for s in scores] == wins, "another result"
print(f"{statistics.median(took) / len(boards) * 1e6:.1f}")
' <"$1/$name.txt" || {
		[ $? = 124 ] || exit 1
		echo 'not solved in ten minutes'
	}
done
