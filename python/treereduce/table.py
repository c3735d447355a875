"""Tables of solved games."""

from __future__ import annotations

import io
import json
import operator
import os
import threading
from contextlib import contextmanager
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    SupportsIndex,
    Type,
    Union,
)

from treereduce.driver import DriverError, PathLike, PositionError, Process, find_driver

if TYPE_CHECKING:
    import pandas

# The values that driver prints for a position are from the view of the player to move.


class Position(NamedTuple):
    """A position and its value for the player to move."""

    position: str  #: the text of the board
    hash: int
    value: str  #: win, lose, tie or draw; in a puzzle solved or unsolvable
    remoteness: Optional[int]  #: moves to the end under best play; None for a draw
    outcome: str  #: the value in the words of the game, for example "X wins"


class Move(NamedTuple):
    """A move and its value for the player who makes it."""

    move: str
    value: str
    remoteness: Optional[int]  #: moves to the end, this one included


#: How a caller names a position: a text in any form that driver lookup reads (moves, a board), a
#: hash (an int, or an integer of NumPy or pandas), the list of the moves that lead to it, or a
#: Position.
PositionLike = Union[str, SupportsIndex, Sequence[Union[str, SupportsIndex]], Position]

# driver answers each line of less than this many bytes with a line, and a longer one not at all.
_TOO_LONG = 256 << 10


class Table:
    """The table of a solved game, in the data directory of driver solve.

    It runs driver as a process. Use it as a context manager, or call close. Threads may share it.
    After a fork, the child starts processes of its own.
    """

    def __init__(
        self, path: PathLike = "all_data", driver: Optional[PathLike] = None, rules: Optional[str] = None
    ) -> None:
        """Open the table in a data directory. find_driver describes driver.

        rules is the command of the rules program, for a game that has one; without it, driver uses the
        environment variable TREEREDUCE_RULES.
        """
        self.path = os.fspath(path)
        self._driver = find_driver(driver)
        self._rules = rules
        self._lock = threading.Lock()
        self._lookups: Dict[str, Process] = {}
        self._stats: Optional[Dict[str, Any]] = None
        self.lookup("")  # fails if there is no table

    def __enter__(self) -> Table:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes. A later call starts them again."""
        with self._lock:
            while self._lookups:
                self._lookups.popitem()[1].close()

    def __repr__(self) -> str:
        return f"Table({self.path!r})"

    @property
    def game(self) -> str:
        """The game and its parameters, for example "connectn width=4 height=5 connect=3"."""
        return str(self.stats()["game"])

    def __len__(self) -> int:
        """Return the number of positions, all images of a position among them."""
        return int(self.stats()["positions"])

    def stats(self) -> Dict[str, Any]:
        """Return what driver stats --json --images prints: game, positions, value, tiers, …"""
        if self._stats is None:
            with self._run("stats", "--json", "--images") as process:
                text = process.stdout.read()
                process.check()
            self._stats = json.loads(text)
        return self._stats

    def lookup(self, position: PositionLike) -> Position:
        """Return a position with its value."""
        answer = self._ask(position)
        return Position(
            answer["position"], answer["hash"], answer["value"], answer.get("remoteness"), answer["outcome"]
        )

    def moves(self, position: PositionLike) -> List[Move]:
        """Return the moves of a position, the best ones first."""
        answer = self._ask(position)
        return [Move(m["move"], m["value"], m.get("remoteness")) for m in answer["moves"]]

    def best_line(self, position: PositionLike = "") -> List[str]:
        """Return the moves of best play to the end; of a draw, until a position repeats."""
        return list(self._ask(position, "--line").get("line", []))  # a terminal position has none

    def __iter__(self) -> Iterator[Position]:
        """Yield every position, in the order of the table."""
        return self.positions()

    def positions(
        self,
        tier: Union[int, str, None] = None,
        *,
        outcome: Optional[str] = None,
        remoteness: Union[int, str, None] = None,
        sample: Optional[int] = None,
        seed: Optional[int] = None,
    ) -> Iterator[Position]:
        """Yield the positions that driver export selects with these flags.

        A tier or a remoteness is a number or a range, "3-5".
        """
        with self._export("tsv", tier, outcome, remoteness, sample, seed) as process:
            lines = io.TextIOWrapper(process.stdout, "utf-8", newline="\n")
            for line in lines:
                if not process.owned():
                    raise DriverError("the iterator was begun before a fork: only the process that began it can go on")
                board, key, value, number, words = line[:-1].split("\t")
                yield Position(board, int(key), value, int(number) if number else None, words)
            process.check()

    def frame(
        self,
        tier: Union[int, str, None] = None,
        *,
        outcome: Optional[str] = None,
        remoteness: Union[int, str, None] = None,
        sample: Optional[int] = None,
        seed: Optional[int] = None,
    ) -> pandas.DataFrame:
        """Return the positions of a tier, or those that positions yields, as a data frame.

        Its columns are the fields of a Position. This needs pandas.
        """
        import pandas

        with self._export("csv", tier, outcome, remoteness, sample, seed) as process:
            try:
                frame = pandas.read_csv(
                    process.stdout,
                    dtype={
                        "position": "str",
                        "hash": "uint64",
                        "value": "category",
                        "remoteness": "Int16",
                        "outcome": "category",
                    },
                    keep_default_na=False,
                    na_values={"remoteness": [""]},
                )
            except pandas.errors.EmptyDataError:  # not even a header
                raise process.failure() from None
            process.check()
            return frame

    def _export(
        self,
        form: str,
        tier: Union[int, str, None],
        outcome: Optional[str],
        remoteness: Union[int, str, None],
        sample: Optional[int],
        seed: Optional[int],
    ) -> Process:
        """Start driver export."""
        flags = {"tier": tier, "outcome": outcome, "remoteness": remoteness, "sample": sample, "seed": seed}
        given = [f"--{name}={value}" for name, value in flags.items() if value is not None]
        return self._run("export", f"--format={form}", *given)

    def _run(self, command: str, *flags: str) -> Process:
        """Start a command of driver on the table."""
        return Process(self._driver, command, f"--data={self.path}", *flags, rules=self._rules)

    def _ask(self, position: PositionLike, flag: str = "--json") -> Dict[str, Any]:
        """Return the answer of driver lookup --json, with a further flag."""
        text = _text(position)
        question = text.encode("utf-8")
        if "\n" in text or "\r" in text or len(question) >= _TOO_LONG:
            raise PositionError(f"expected a position, a line of less than {_TOO_LONG} bytes, found {text[:80]!r}")
        with self._lookup(flag) as process:
            process.stdin.write(question + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                raise process.failure()
            answer: Dict[str, Any] = json.loads(line)
            if answer["input"] != text:
                raise DriverError(f"driver did not answer {text!r}, but {answer['input']!r}")
        if "error" in answer:
            raise PositionError(answer["error"])
        return answer

    @contextmanager
    def _lookup(self, flag: str) -> Iterator[Process]:
        """Provide a process that answers, one caller at a time. An exception ends it."""
        with self._lock:
            process = self._lookups.pop(flag, None)
            if not process or not process.owned():  # a child of a fork shares the pipes of its parent
                process = self._run("lookup", "--json", flag)
            try:
                yield process
            except BrokenPipeError:
                raise process.failure() from None
            except BaseException:
                process.close()
                raise
            self._lookups[flag] = process


def _text(position: PositionLike) -> str:
    """Return a position as driver lookup reads it."""
    if isinstance(position, Position):
        position = position.hash
    if isinstance(position, str):
        return position
    try:
        return f"#{operator.index(position)}"  # type: ignore[arg-type]
    except TypeError:
        return " ".join(map(str, position))  # type: ignore[arg-type]
