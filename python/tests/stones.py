"""Classes of rules that tests solve."""

from typing import Any, Dict


class Stones:
    """Players take one, two or three stones. The player who takes the last one wins."""

    def __init__(self, stones: int = 10) -> None:
        self.start = stones
        self.positions = stones + 1

    def primitive(self, p: int) -> Any:
        return "lose" if p == 0 else None

    def moves(self, p: int) -> Dict[str, int]:
        return {f"take{n}": p - n for n in (1, 2, 3) if n <= p}

    def text(self, p: int) -> str:
        return "o" * p or "-"

    def parse(self, text: str) -> int:
        if text.strip("o") not in ("", "-"):
            raise ValueError("expected a letter o for each stone")
        return text.count("o")


class Broken(Stones):
    """A game with a mistake."""

    def moves(self, p: int) -> Dict[str, int]:
        return {"stop": p // 0} if p == 2 else super().moves(p)
