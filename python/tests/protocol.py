"""The other side of docs/rules.md in its simplest form: it asks a rules program, and solves its game."""

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple, Type

HERE = Path(__file__).parents[1]
EXAMPLES = HERE / "examples" / "rules"

#: The number of questions that are sent before their answers are read. All fit into a pipe.
BATCH = 300


class Answer(NamedTuple):
    """The answer for a position: the player to move (0: the position does not show it), the end or the moves."""

    player: int
    end: str
    moves: Dict[str, int]


class Value(NamedTuple):
    """A value for the player to move."""

    value: str
    remoteness: Optional[int]


class Run:
    """A rules program that is running."""

    def __init__(self, *command: object) -> None:
        self._popen = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            encoding="utf-8", env={**os.environ, "PYTHONPATH": str(HERE)},
        )  # fmt: skip
        self.header: Dict[str, List[str]] = {}
        for line in iter(self._line, ""):
            key, _, value = line.partition(" ")
            self.header.setdefault(key, []).append(value)
        assert self.header.pop("treereduce") == ["rules 1"]
        self.start = int(self.header["start"][0])
        self._positions: Dict[int, Answer] = {}

    def __enter__(self) -> "Run":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        _, self.stderr = self._popen.communicate()
        if not error:
            assert self._popen.returncode == 0, self.stderr

    def ask(self, questions: Iterable[object]) -> List[str]:
        """Return the answers to questions."""
        assert self._popen.stdin
        lines, answers = list(map(str, questions)), []
        for i in range(0, len(lines), BATCH):
            batch = lines[i : i + BATCH]
            self._popen.stdin.write("\n".join(batch) + "\n\n")
            self._popen.stdin.flush()
            answers += [self._line() for _ in batch]
            assert self._line() == ""
        return answers

    def positions(self) -> Dict[int, Answer]:
        """Return the answers for all positions that can be reached. A second call does not ask again."""
        found = self._positions
        frontier = [] if found else [self.start]
        while frontier:
            found.update(zip(frontier, map(self._parse, self.ask(frontier))))
            frontier = sorted({to for p in frontier for to in found[p].moves.values()} - found.keys())
        return found

    def ask_position(self, p: int) -> Answer:
        """Return the answer for a position."""
        return self._parse(*self.ask([p]))

    def _line(self) -> str:
        assert self._popen.stdout
        line = self._popen.stdout.readline()
        assert line.endswith("\n"), self._popen.stderr and self._popen.stderr.read()
        return line[:-1]

    def _parse(self, line: str) -> Answer:
        words = line.split(" ")
        player = int(words.pop(0)) if "players" in self.header else 0
        if words[0].isalpha():
            (end,) = words
            return Answer(player, end, {})
        pairs = [word.rpartition(":") for word in words]
        moves = {name or to: int(to) for name, _, to in pairs}
        assert len(moves) == len(words)
        return Answer(player, "", moves)


def python(example: str, **parameters: int) -> Run:
    """Run an example in Python."""
    return Run(sys.executable, EXAMPLES / f"{example}.py", *(f"{name}={value}" for name, value in parameters.items()))


def solved(run: Run) -> Dict[int, Value]:
    """Return the values of all positions of a game, in which a position without a value is a draw."""
    answers = run.positions()
    if run.header.get("ties") == ["late"]:
        return by_number(answers)
    after = {p: set(answer.moves.values()) for p, answer in answers.items()}
    before: Dict[int, List[int]] = {p: [] for p in answers}
    for p, successors in after.items():
        for to in successors:
            before[to].append(p)
    ends = [p for p, answer in answers.items() if answer.end]
    values = {p: Value(answers[p].end, 0) for p in ends}
    left = {p: len(successors) for p, successors in after.items()}
    ties = [p for p in ends if values[p].value in ("tie", "solved")]
    lost_or_won = [p for p in ends if values[p].value in ("lose", "win")]
    while lost_or_won:  # in the order of their remoteness
        found = []
        for to in lost_or_won:
            for p in before[to]:
                if p not in values:
                    value = moved(answers, p, to, values[to])
                    left[p] -= value.value == "lose"
                    if value.value == "win" or left[p] == 0:
                        values[p] = value
                        found.append(p)
        lost_or_won = found
    while ties:
        found = []
        for to in ties:
            for p in before[to]:
                if p not in values:
                    values[p] = moved(answers, p, to, values[to])
                    found.append(p)
        ties = found
    return {p: values.get(p, Value("draw", None)) for p in answers}


def moved(answers: Dict[int, Answer], p: int, to: int, value: Value) -> Value:
    """Return the value that a move from p to a position has for the player to move at p."""
    word = value.value
    if answers[to].player != answers[p].player or not answers[p].player:
        word = {"win": "lose", "lose": "win"}.get(word, word)
    return Value(word, (value.remoteness or 0) + 1)


def by_number(answers: Dict[int, Answer]) -> Dict[int, Value]:
    """Return the values of a game in which a move leads to a higher number, and players prefer late ties."""
    values: Dict[int, Value] = {}

    def order(value: Value) -> Tuple[int, int]:
        remoteness = value.remoteness or 0
        return {"win": (2, -remoteness), "tie": (1, remoteness), "lose": (0, remoteness)}[value.value]

    for p in sorted(answers, reverse=True):
        after = answers[p].moves.values()
        assert all(to > p for to in after)
        values[p] = max((moved(answers, p, to, values[to]) for to in after), key=order) if after else Value(answers[p].end, 0)
    return values
