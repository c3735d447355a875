"""The 8-puzzle: slide eight tiles on nine squares into their order."""

from typing import Dict, Optional

from treereduce.rules import main

GOAL = "123/456/78."


class Eight:
    """Slide a tile to the empty square, until the tiles are in order and the last square is empty."""

    puzzle = True
    positions = 9**9  # a digit for each square: its tile, or 0

    def __init__(self) -> None:
        self.goal = self.parse(GOAL)
        self.start = self.parse("867/254/3.1")

    def primitive(self, p: int) -> Optional[str]:
        return "solved" if p == self.goal else None

    def moves(self, p: int) -> Dict[str, int]:
        tiles = [p // 9**square % 9 for square in range(9)]
        empty, found = tiles.index(0), {}
        for square in range(9):
            if abs(square % 3 - empty % 3) + abs(square // 3 - empty // 3) == 1:  # neighbours
                found[str(tiles[square])] = p + tiles[square] * (9**empty - 9**square)
        return found

    def text(self, p: int) -> str:
        tiles = "".join(".12345678"[p // 9**square % 9] for square in range(9))
        return f"{tiles[:3]}/{tiles[3:6]}/{tiles[6:]}"

    def parse(self, text: str) -> int:
        if sorted(text) != sorted(GOAL):
            raise ValueError(f"expected the tiles in three rows, such as {GOAL}")
        return sum(".12345678".index(tile) * 9**square for square, tile in enumerate(text.replace("/", "")))

    def picture(self, p: int) -> str:
        return self.text(p)


if __name__ == "__main__":
    main(Eight)
