"""The Towers of Hanoi, a puzzle."""

from typing import Dict, Optional

from treereduce.rules import main


class Hanoi:
    """Move the tower from peg a to peg c, one disk at a time. No disk may lie on a smaller one."""

    puzzle = True
    start = 0

    def __init__(self, disks: int = 5) -> None:
        self.title = f"The Towers of Hanoi, {disks} disks"
        self.disks = disks
        self.positions = 3**disks  # a digit for each disk, the smallest first: its peg

    def pegs(self, p: int) -> str:
        """Return the peg of each disk, the smallest disk first."""
        return "".join("abc"[p // 3**disk % 3] for disk in range(self.disks))

    def primitive(self, p: int) -> Optional[str]:
        return "solved" if p == self.positions - 1 else None

    def moves(self, p: int) -> Dict[str, int]:
        found, pegs = {}, self.pegs(p)
        for source in "abc":
            for target in "abc":
                disk = pegs.find(source)  # the smallest one on the peg
                if 0 <= disk and (disk < pegs.find(target) or target not in pegs):
                    found[source + target] = p + ("abc".index(target) - "abc".index(source)) * 3**disk
        return found

    def text(self, p: int) -> str:
        return self.pegs(p)

    def parse(self, text: str) -> int:
        if len(text) != self.disks:
            raise ValueError(f"expected {self.disks} letters, the pegs of the disks, the smallest disk first")
        return sum("abc".index(peg) * 3**disk for disk, peg in enumerate(text))

    def picture(self, p: int) -> str:
        pegs = self.pegs(p)
        towers = [[str(disk + 1) for disk in range(self.disks) if pegs[disk] == peg] for peg in "abc"]
        return "/".join("".join((["."] * self.disks + tower)[-self.disks + y] for tower in towers) for y in range(self.disks))


if __name__ == "__main__":
    main(Hanoi)
