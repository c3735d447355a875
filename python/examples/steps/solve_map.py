"""Mapper of solve for Connect N: sends the value of each position to its predecessors, see docs/steps.md."""

import os, sys

width, height = (int(os.environ['treereduce_' + name]) for name in ('width', 'height'))
bits, digits = height + 1, (width * (height + 1) + 3) // 4
turn = os.environ['treereduce_turn']
for line in sys.stdin:
    key, *value = line.split()
    board = int(key, 16)
    columns = [(board >> bits * i & (1 << bits) - 1) + 1 for i in range(width)]
    stones = [column.bit_length() - 1 for column in columns]
    if 'XO'[sum(stones) % 2] == turn:  # a position of the tier
        print(line, end='')
        continue
    for i, n in enumerate(stones):  # a child: take back each stone that was the last one
        if n and 'OX'[columns[i] >> n - 1 & 1] == turn:
            piece = 2 if turn == 'X' else 1
            print(f'{board - (piece << n - 1 + bits * i):0{digits}x}\tm{value[0]}')
