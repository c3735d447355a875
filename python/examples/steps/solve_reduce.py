"""Reducer of solve for Connect N: takes the best value of each position of the tier, see docs/steps.md."""

import itertools, os, sys

wins = 2 if os.environ['treereduce_turn'] == 'X' else 1

def rank(value: int) -> tuple[int, int]:  # a win soon, then a tie, then a loss late
    outcome, moves = value & 3, value >> 2
    return (2, -moves) if outcome == wins else (1, -moves) if outcome == 3 else (0, moves)

lines = (line.rstrip('\n').split('\t') for line in sys.stdin)
for key, group in itertools.groupby(lines, lambda fields: fields[0]):
    position, value = False, ''
    children: list[int] = []
    for _, *rest in group:
        if rest and rest[0].startswith('m'):
            children.append(int(rest[0][1:]))
        else:
            position, value = True, rest[0] if rest else ''
    if position:  # without one, the messages are for no position of the tier
        print(f'{key}\t{value or max(children, key=rank) + 4}')
