"""The 2×2×2 cube: 3,674,160 positions, each at most 11 turns from the solved one."""

from itertools import permutations, product
from operator import add, itemgetter
from typing import Dict, List, Optional

from treereduce.rules import main

# The corner at the back, bottom and left stays where it is. A quarter turn of a face moves the others, which
# are at the places 0 to 6: for each place, the place that its new corner comes from, and the twist of that
# corner, in thirds of a turn.
TURNS = {
    "U": ((3, 0, 1, 2, 4, 5, 6), (0, 0, 0, 0, 0, 0, 0)),
    "R": ((4, 1, 2, 0, 6, 5, 3), (2, 0, 0, 1, 1, 0, 2)),
    "F": ((1, 5, 2, 3, 0, 4, 6), (1, 2, 0, 0, 2, 1, 0)),
}
NAMES = [face + quarters for face in TURNS for quarters in ("", "2", "'")]
CORNERS = list(permutations(range(7)))
TWISTS = [(*twists, -sum(twists) % 3) for twists in product(range(3), repeat=6)]  # the last one depends on the others


def turns(quarter: List[int]) -> List[List[int]]:
    """Return what one, two and three quarter turns make of each number, from what one makes of it."""
    half = [quarter[n] for n in quarter]
    return [quarter, half, [quarter[n] for n in half]]


class Cube2:
    """Turn the upper, right or front face by one, two or three quarters, until each face has one colour."""

    title = "2×2×2 cube"
    puzzle = True
    positions = len(CORNERS) * len(TWISTS)
    start = 3234420  # 11 turns away

    def __init__(self) -> None:
        # The number of a position is that of its corners, times 729, plus that of their twists. Tables have both
        # after each of the nine turns.
        corners = {corners: n for n, corners in enumerate(CORNERS)}
        twists = {twists: n for n, twists in enumerate(TWISTS)}
        corner_turns: List[List[int]] = []
        twist_turns: List[List[int]] = []
        for places, thirds in TURNS.values():
            moved = itemgetter(*places)
            corner_turns += turns([corners[moved(c)] for c in CORNERS])
            twist_turns += turns([twists[tuple((t + third) % 3 for t, third in zip(moved(ts), thirds))] for ts in TWISTS])
        self.corners = [[n * len(TWISTS) for n in after] for after in zip(*corner_turns)]
        self.twists = list(zip(*twist_turns))

    def primitive(self, p: int) -> Optional[str]:
        return "solved" if p == 0 else None

    def moves(self, p: int) -> Dict[str, int]:
        corners, twists = divmod(p, len(TWISTS))
        return dict(zip(NAMES, map(add, self.corners[corners], self.twists[twists])))


if __name__ == "__main__":
    main(Cube2)
