#!/usr/bin/env bash
# The CPU time of BitBully (PyPI, for comparison only) on the positions of the benchmarks of
# package search, in µs a position. Each set is solved again and again until that has taken a
# second; the median counts. The winner must be the one that our search found.
#
#	scripts/bitbully.sh DIRECTORY
#
# DIRECTORY has the positions, as the benchmarks write them with TREEREDUCE_POSITIONS=DIRECTORY.
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
	echo -n "BitBully, $name, exact, CPU µs a position: "
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
