"""The 2×2×2 cube: 3,674,160 positions, each at most 11 turns from the solved one."""

from itertools import permutations, product
from operator import add
from typing import Dict, Optional, Tuple

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
Seven = Tuple[int, ...]


def turn(corners: Seven, twists: Seven, name: str) -> Tuple[Seven, Seven]:
    """Return the corners at each place, and their twists, after a turn: U is a quarter, U2 a half, U' three quarters."""
    places, thirds = TURNS[name[0]]
    for _ in range(1 + " 2'".find(name[1:] or " ")):
        corners = tuple(corners[place] for place in places)
        twists = tuple((twists[place] + third) % 3 for place, third in zip(places, thirds))
    return corners, twists


class Cube2:
    """Turn the upper, right or front face by one, two or three quarters, until each face has one colour."""

    title = "2×2×2 cube"
    puzzle = True
    positions = len(CORNERS) * len(TWISTS)

    def __init__(self) -> None:
        # The number of a position is that of its corners, times 729, plus that of their twists. Tables have these
        # numbers after each of the nine turns.
        corners = {corners: n * len(TWISTS) for n, corners in enumerate(CORNERS)}
        twists = {twists: n for n, twists in enumerate(TWISTS)}
        self.corners = [[corners[turn(c, TWISTS[0], name)[0]] for name in NAMES] for c in CORNERS]
        self.twists = [[twists[turn(CORNERS[0], t, name)[1]] for name in NAMES] for t in TWISTS]
        self.start = 3234420  # 11 turns away

    def primitive(self, p: int) -> Optional[str]:
        return "solved" if p == 0 else None

    def moves(self, p: int) -> Dict[str, int]:
        corners, twists = divmod(p, len(TWISTS))
        return dict(zip(NAMES, map(add, self.corners[corners], self.twists[twists])))


if __name__ == "__main__":
    main(Cube2)
