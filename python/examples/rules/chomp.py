"""Chomp, with tiers: take squares of a bar of chocolate, but leave the poisoned one to the other player."""

from typing import Dict, List, Optional

from treereduce.rules import main


class Chomp:
    """A move takes a square of the bar, and all squares to the right of it, below it, or both.

    The square a1 is poisoned: the player who takes it loses.
    """

    def __init__(self, width: int = 5, height: int = 4) -> None:
        self.title = f"Chomp on {width}×{height}"
        self.base, self.height = width + 1, height
        self.tiers = width * height
        self.positions = self.base**height
        self.start = self.number([width] * height)

    # A position is the list of the lengths of the rows. Its number has them as digits.

    def rows(self, p: int) -> List[int]:
        return [p // self.base**y % self.base for y in range(self.height)]

    def number(self, rows: List[int]) -> int:
        return sum(row * self.base**y for y, row in enumerate(rows))

    def tier(self, p: int) -> int:
        return self.tiers - sum(self.rows(p))  # the squares that are eaten: more after each move

    def primitive(self, p: int) -> Optional[str]:
        return "win" if p == 0 else None  # the other player has taken the poison

    def moves(self, p: int) -> Dict[str, int]:
        rows = self.rows(p)
        found = {}
        for y, row in enumerate(rows):
            for x in range(row):
                found[f"{chr(ord('a') + x)}{y + 1}"] = self.number(rows[:y] + [min(r, x) for r in rows[y:]])
        return found

    def text(self, p: int) -> str:
        return " ".join(map(str, self.rows(p)))

    def parse(self, text: str) -> int:
        rows = [int(word) for word in text.split()]
        if len(rows) != self.height or rows != sorted(rows, reverse=True) or not 0 <= rows[-1] <= rows[0] < self.base:
            raise ValueError(f"expected {self.height} rows of at most {self.base - 1}, none longer than the one above")
        return self.number(rows)

    def picture(self, p: int) -> str:
        return "/".join(("#" * row).ljust(self.base - 1, ".") for row in self.rows(p))


if __name__ == "__main__":
    main(Chomp)
