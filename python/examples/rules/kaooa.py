"""Kaooa, with players, and with tiers in which moves may stay: crows against a vulture, on a star of five lines."""

from typing import Dict, List, Optional, Tuple

from treereduce.rules import main

PLACES = "d1 g2 f5 b5 a2 e2 f3 d4 b3 c2".split()  # the five tips of the star, then the points within
NONE = 10  # the vulture is not on the board
LINES = [(i, 5 + i, 5 + (i + 1) % 5, (i + 2) % 5) for i in range(5)]
WAYS = LINES + [line[::-1] for line in LINES]
STEPS = [[(way[i], way[i + 1]) for way in WAYS for i in range(3) if way[i] == at] for at in range(10)]
JUMPS = [[way[i : i + 3] for way in WAYS for i in range(2) if way[i] == at] for at in range(10)]


class Kaooa:
    """The crows begin. A crow is put onto an empty point in each turn, until all are there; then one moves to the
    next point of a line. In his first turn, the vulture is put onto an empty point; then it moves to the next point of a
    line, or captures a crow by a jump over it to the empty point behind it.

    The vulture wins when it has captured enough crows. A player who cannot move loses."""

    players = ("crows", "vulture")
    bits = 19  # 10 for the crows, then 4 for the vulture, 4 for the crows put onto the board, 1 for the player
    start = NONE << 10

    def __init__(self, crows: int = 6, captures: int = 3) -> None:
        if not 1 <= captures <= crows <= 8:
            raise ValueError("expected 1 to 8 crows, and 1 to as many captures")
        self.crows, self.captures = crows, captures
        # Until all crows are there, each turn leads to the next tier; then each capture does.
        self.tiers = 2 * crows - 1 + captures
        self.loops = range(2 * crows - 1, self.tiers)

    def parts(self, p: int) -> Tuple[int, int, int, int]:
        """Return the crows on the board, the vulture, the number of crows put there, and the player to move."""
        return p & 1023, p >> 10 & 15, p >> 14 & 15, 1 + (p >> 18)

    def captured(self, p: int) -> int:
        crows, _, put, _ = self.parts(p)
        return put - bin(crows).count("1")

    def player(self, p: int) -> int:
        return self.parts(p)[3]

    def tier(self, p: int) -> int:
        _, _, put, player = self.parts(p)
        return 2 * put + 1 - player if put < self.crows else 2 * put - 1 + self.captured(p)

    def primitive(self, p: int) -> Optional[str]:
        return "lose" if self.captured(p) >= self.captures or not self.moves(p) else None

    def moves(self, p: int) -> Dict[str, int]:
        crows, vulture, put, player = self.parts(p)
        after: List[Tuple[str, int, int, int]] = []  # names, crows, vultures, numbers of crows put onto the board
        empty = [at for at in range(10) if at != vulture and not crows >> at & 1]
        if player == 1 and put < self.crows:
            after = [(PLACES[to], crows | 1 << to, vulture, put + 1) for to in empty]
        elif player == 1:
            steps = [step for at in range(10) if crows >> at & 1 for step in STEPS[at] if step[1] in empty]
            after = [(f"{PLACES[at]}-{PLACES[to]}", crows ^ 1 << at ^ 1 << to, vulture, put) for at, to in steps]
        elif vulture == NONE:
            after = [(PLACES[to], crows, to, put) for to in empty]
        else:
            ways = [(to, 0) for _, to in STEPS[vulture]] + [(to, 1 << over) for _, over, to in JUMPS[vulture]]
            after = [(f"{PLACES[vulture]}-{PLACES[to]}", crows ^ over, to, put) for to, over in ways if to in empty and crows & over == over]
        return {name: crows | vulture << 10 | put << 14 | (2 - player) << 18 for name, crows, vulture, put in after}

    def points(self, p: int) -> str:
        crows, vulture, _, _ = self.parts(p)
        return "".join("V" if at == vulture else "C" if crows >> at & 1 else "+" for at in range(10))

    def text(self, p: int) -> str:
        _, _, put, player = self.parts(p)
        return f"{self.points(p)} {put} {'CV'[player - 1]}"

    def parse(self, text: str) -> int:
        points, put, player = text.split(" ")
        crows = sum(1 << at for at, piece in enumerate(points) if piece == "C")
        p = crows | (points.find("V") if "V" in points else NONE) << 10 | int(put) << 14 | "CV".index(player) << 18
        if self.text(p) != text or not 0 <= self.captured(p) <= int(put) <= self.crows:
            raise ValueError("expected ten points (C, V or +), the number of crows put onto them, and C or V to move")
        return p

    def picture(self, p: int) -> str:
        rows = [["."] * 7 for _ in range(5)]
        for place, piece in zip(PLACES, self.points(p)):
            rows[int(place[1]) - 1]["abcdefg".index(place[0])] = piece
        return "/".join(map("".join, rows))


if __name__ == "__main__":
    main(Kaooa)
