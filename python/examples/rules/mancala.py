"""Mancala, with tiers, players and passes: the rules of driver's own game mancala."""

import json
from typing import Dict, List, Optional, Tuple

from treereduce.rules import main


class Mancala:
    """Sow the stones of one of your pits into the places that follow. The larger goal wins."""

    name, players, ties, tiers = "pymancala", ("row 0", "row 1"), "late", 0

    def __init__(self, pits: int = 3, stones: int = 2) -> None:
        self.pits, self.all, self.places = pits, 2 * pits * stones, 2 * pits + 2  # with the goals
        *self.powers, self.positions = [int(2 * (self.all + 1) ** place) for place in range(self.places + 1)]
        self.start = self.number([*[stones] * pits, 0] * 2, 0)
        self.tiers = -self.tier(self.start)

    def number(self, board: List[int], row: int) -> int:
        return sum(stones * power for stones, power in zip(board, self.powers)) + row

    def read(self, p: int) -> Tuple[List[int], int]:
        return [p // power % (self.all + 1) for power in self.powers], p % 2

    def player(self, p: int) -> int:
        return 1 + p % 2

    def tier(self, p: int) -> int:  # each move is a step up: stones go forward, and a pass needs an empty row
        board, row = self.read(p)
        sides = [sum((self.pits**2 - i) * board[a + i] for i in range(self.pits)) for a in (0, self.pits + 1)]
        return self.tiers - 2 * sum(sides) - (sides[row] == 0 < sides[1 - row])

    def primitive(self, p: int) -> Optional[str]:
        board, row = self.read(p)
        lead = (board[self.pits] - board[-1]) * (1 - 2 * row)
        return None if board[self.pits] + board[-1] < self.all else "win" if lead > 0 else "lose" if lead else "tie"

    def moves(self, p: int) -> Dict[str, int]:
        board, row = self.read(p)
        mine = range(row * (self.pits + 1), row * (self.pits + 1) + self.pits)
        return {str(pit): self.sow(list(board), row, pit, mine) for pit in mine if board[pit]} or {"pass": p ^ 1}

    def sow(self, board: List[int], row: int, at: int, mine: range) -> int:
        hand, board[at] = board[at], 0
        while hand:
            at = (at + 1) % self.places
            if at != (mine.stop + self.pits + 1) % self.places:  # the goal of the other row
                board[at], hand = board[at] + 1, hand - 1
        across = 2 * self.pits - at
        if at in mine and board[at] == 1 and board[across]:  # alone, in a pit of the player's row
            board[mine.stop] += 1 + board[across]
            board[at] = board[across] = 0
        return self.number(board, 1 - row)

    def text(self, p: int) -> str:
        return "State({}, {})".format(*self.read(p))

    def parse(self, text: str) -> int:
        p = self.number(*json.loads(f"[{text[6:-1]}]"))
        if self.text(p) != text:
            raise ValueError("expected State([STONES, …], ROW)")
        return p


if __name__ == "__main__":
    main(Mancala)
