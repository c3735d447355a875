"""m,n,k tic-tac-toe, with tiers and players: the rules of driver's own game mnk."""

from typing import Dict, Optional

from treereduce.rules import main


class MNK:
    """X and O take turns to put a stone on an empty square. The first with enough in a row wins."""

    name = "pymnk"  # mnk is the name of driver's own game
    start = 0
    players = ("X", "O")
    ties = "late"

    def __init__(self, width: int = 3, height: int = 3, connect: int = 3) -> None:
        self.title = f"Tic-tac-toe of {connect} on {width}×{height}"
        self.width, self.height = width, height
        self.squares = [(x, y) for x in range(width) for y in range(height)]
        self.names = [f"{chr(ord('a') + x)}{y + 1}" for x, y in self.squares]
        self.size = self.tiers = len(self.squares)
        self.bits = 2 * self.size  # X's stones are the low bits, one for each square, O's the others
        self.lines = []
        for x, y in self.squares:
            for dx, dy in (1, 0), (0, 1), (1, 1), (-1, 1):
                line = [(x + i * dx, y + i * dy) for i in range(connect)]
                if all(square in self.squares for square in line):
                    self.lines.append(sum(1 << self.squares.index(square) for square in line))

    def tier(self, p: int) -> int:
        return bin(p).count("1")

    def player(self, p: int) -> int:
        return 1 + self.tier(p) % 2

    def primitive(self, p: int) -> Optional[str]:
        stones = p >> self.size if self.player(p) == 1 else p  # of the player who moved last
        if any(stones & line == line for line in self.lines):
            return "lose"
        return "tie" if self.tier(p) == self.size else None

    def moves(self, p: int) -> Dict[str, int]:
        first = 0 if self.player(p) == 1 else self.size  # the player's bit for the first square
        taken = p | p >> self.size
        return {name: p | 1 << first + i for i, name in enumerate(self.names) if not taken >> i & 1}

    def text(self, p: int) -> str:
        stones = [".XO"[(p >> i & 1) + 2 * (p >> self.size + i & 1)] for i in range(self.size)]
        return "/".join("".join(stones[y :: self.height]) for y in range(self.height))

    def parse(self, text: str) -> int:
        stones = {(x, y): stone for y, row in enumerate(text.split("/")) for x, stone in enumerate(row)}
        if sorted(stones) != self.squares:
            raise ValueError(f"expected {self.height} rows of {self.width} squares")
        return sum(1 << i + self.size * (stones[at] == "O") for i, at in enumerate(self.squares) if stones[at] in "XO")


if __name__ == "__main__":
    main(MNK)
