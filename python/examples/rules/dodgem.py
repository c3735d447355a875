"""Dodgem, with players and cycles: the rules of driver's own game dodgem, for boards of size 2 to 4."""

from itertools import combinations, product
from typing import Dict, Iterable, List, Optional, Tuple

from treereduce.rules import main

STEPS = (("d", 0, 1), ("r", 1, 0), ("u", 0, -1)), (("l", -1, 0), ("r", 1, 0), ("u", 0, -1))
FORWARD = "ru"  # leads off the board, too
Cars = Tuple[int, ...]  # the squares with a player's cars


def sets(squares: Iterable[int], k: int) -> List[Cars]:
    """Return the sets of k squares, ordered by the last one."""
    return sorted(combinations(squares, k), key=lambda cars: cars[::-1])


class Dodgem:
    """Drive your cars off the board: > to the right, ^ up, forward or sideways, onto empty squares.

    The first player without cars wins, and so does a player who cannot move."""

    name, players = "pydodgem", (">", "^")

    def __init__(self, size: int = 3) -> None:
        self.size = size
        squares, counts = range(size * size), product(range(size), repeat=2)
        self.boards = [(a, b) for k, m in counts for a in sets(squares, k) for b in sets({*squares} - {*a}, m)]
        self.numbers = {board: n for n, board in enumerate(self.boards)}
        self.positions = 2 * len(self.boards)  # the lowest bit is the player to move
        self.start = 2 * self.numbers[tuple(squares[: -size : size]), tuple(squares[1 - size :])]

    def player(self, p: int) -> int:
        return 1 + p % 2

    def primitive(self, p: int) -> Optional[str]:
        if not self.boards[p // 2][1 - p % 2]:
            return "lose"
        return None if self.moves(p) else "win"

    def moves(self, p: int) -> Dict[str, int]:
        me, cars, found = p % 2, self.boards[p // 2], {}
        for car in cars[me]:
            for name, dx, dy in STEPS[me]:
                x, y = car % self.size + dx, car // self.size + dy
                to = [y * self.size + x] if x in range(self.size) and y in range(self.size) else []
                if name == FORWARD[me] if not to else to[0] not in cars[0] + cars[1]:
                    mine = tuple(sorted([*(set(cars[me]) - {car}), *to]))
                    after = (cars[0], mine) if me else (mine, cars[1])
                    found["abcd"[car % self.size] + "1234"[car // self.size] + name] = 2 * self.numbers[after] + 1 - me
        return found

    def text(self, p: int) -> str:
        first, second = self.boards[p // 2]
        squares = "".join(">" if s in first else "^" if s in second else "." for s in range(self.size**2))
        return "/".join(squares[i : i + self.size] for i in range(0, len(squares), self.size)) + " " + ">^"[p % 2]

    def parse(self, text: str) -> int:
        first, second = (tuple(s for s, car in enumerate(text[:-2].replace("/", "")) if car == kind) for kind in ">^")
        p = 2 * self.numbers[first, second] + ">^".index(text[-1])
        if self.text(p) != text:
            raise ValueError("expected a board and, after a blank, the player to move")
        return p


if __name__ == "__main__":
    main(Dodgem)
