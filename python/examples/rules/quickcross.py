"""Quick Cross, with cycles: the rules of driver's own game quickcross."""

from typing import Dict, Optional

from treereduce.rules import main


class QuickCross:
    """Lay a piece across (-) or upright (|) on an empty square, or turn a piece.

    The player who makes a row of enough pieces of one kind wins.
    """

    name = "pyquickcross"
    start = 0

    def __init__(self, width: int = 3, height: int = 3, connect: int = 3) -> None:
        self.title = f"Quick Cross of {connect} on {width}×{height}"
        self.width, self.height = width, height
        self.positions = 3 ** (width * height)  # a digit for each square: 0 empty, 1 across, 2 upright
        squares = [(x, y) for y in range(height) for x in range(width)]
        self.weights = {f"{chr(ord('a') + x)}{y + 1}": 3**i for i, (x, y) in enumerate(squares)}
        self.lines = []
        for x, y in squares:
            for dx, dy in (1, 0), (0, 1), (1, 1), (-1, 1):
                line = [(x + i * dx, y + i * dy) for i in range(connect)]
                if all(square in squares for square in line):
                    self.lines.append([3 ** squares.index(square) for square in line])

    def primitive(self, p: int) -> Optional[str]:
        for line in self.lines:
            kinds = {p // weight % 3 for weight in line}
            if kinds == {1} or kinds == {2}:
                return "lose"  # the other player has made it
        return None

    def moves(self, p: int) -> Dict[str, int]:
        found = {}
        for name, weight in self.weights.items():
            was = p // weight % 3
            for piece in 1, 2:
                if piece != was:
                    found[name + ".-|"[piece]] = p + (piece - was) * weight
        return found

    def text(self, p: int) -> str:
        pieces = "".join(".-|"[p // weight % 3] for weight in self.weights.values())
        return "/".join(pieces[y * self.width :][: self.width] for y in range(self.height))

    def parse(self, text: str) -> int:
        if [len(row) for row in text.split("/")] != [self.width] * self.height:
            raise ValueError(f"expected {self.height} rows of {self.width} squares")
        return sum(".-|".index(piece) * 3**i for i, piece in enumerate(text.replace("/", "")))


if __name__ == "__main__":
    main(QuickCross)
