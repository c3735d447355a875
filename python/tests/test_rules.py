"""Tests of rules programs that are classes."""

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Dict, List, Type

import numpy
import pytest
from protocol import HERE, Run

from treereduce import PositionError
from treereduce.rules import Program, RulesError


class Ten:
    """Players take stones.

    The player who takes
    the last one wins.
    """

    def __init__(self, stones: int = 10) -> None:
        self.start = stones
        self.positions = stones + 1

    def primitive(self, p: int) -> Any:
        return "lose" if p == 0 else None

    def moves(self, p: int) -> Any:
        return {f"take{n}": p - n for n in (1, 2, 3) if n <= p}


def answer(rules: Type[Any], question: object, **parameters: Any) -> str:
    """Return the answer to a question."""
    (line,) = Program(rules, parameters).answers([str(question)])
    return line


def header(rules: Type[Any], **parameters: Any) -> List[str]:
    return Program(rules, parameters).header().split("\n")


def changed(**attributes: Any) -> Type[Any]:
    """Return a class that is Ten with other attributes."""
    return type("Ten", (Ten,), attributes)


def test_header() -> None:
    assert header(Ten, stones=numpy.int64(20)) == [
        "treereduce rules 1", "name ten", "parameter stones 20", "rules Players take stones.",
        "rules The player who takes the last one wins.", "bits 5", "start 20", "below 21", "", "",
    ]  # fmt: skip
    assert header(type("Any", (), {"start": 1, "primitive": None, "moves": None})) == [
        "treereduce rules 1", "name any", "bits 64", "start 1", "", "",
    ]  # fmt: skip


def test_all_attributes() -> None:
    """A value is an attribute, a property, or what a method returns."""

    class Some_Game(Ten):
        bits = numpy.uint8(30)
        title = property(lambda self: f"{self.start} stones")
        players = ["left", "right"]
        ties = "late"
        tiers = 12

        def __init__(self) -> None:
            self.start = 10

        def rules(self) -> str:
            return "First.\n\nSecond.\n"

        def player(self, p: int) -> int:
            return 1

        def tier(self, p: int) -> int:
            return self.start - p

        def text(self, p: int) -> str:
            return str(p)

        picture = text

    assert header(Some_Game) == [
        "treereduce rules 1", "name somegame", "title 10 stones", "rules First.", "rules Second.", "bits 34", "start 10",
        "players left, right", "tiers 12", "ties late", "text", "picture", "", "",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "moves",
    [
        lambda self, p: [p - 1, p - 2],
        lambda self, p: (p - n for n in (1, 2)),
        lambda self, p: {p - 2: 0, p - 1: 0}.keys() if p == 1 else [p - 1, p - 2],
        lambda self, p: p - numpy.arange(1, 3),
        lambda self, p: numpy.array([p - 1, p - 2], dtype="uint64"),
    ],
)
def test_moves(moves: Any) -> None:
    assert answer(changed(moves=moves), 5) == "4 3"


@pytest.mark.parametrize(
    "moves",
    [
        lambda self, p: {"a": p - 1, "5%": p - 2},
        lambda self, p: [("a", p - 1), ("5%", numpy.uint64(p - 2))],
        lambda self, p: (["a", p - 1], ["5%", p - 2]),
        lambda self, p: zip("ab", (p - 1, p - 2)) if p == 1 else iter([("a", p - 1), ("5%", p - 2)]),
    ],
)
def test_named_moves(moves: Any) -> None:
    assert answer(changed(moves=moves), 5) == "a:4 5%:3"


def test_questions() -> None:
    class Spelled(Ten):
        def text(self, p: int) -> str:
            return "stone " * p

        def parse(self, text: str) -> int:
            if text != "o" * len(text):
                raise ValueError("expected\nonly o")
            return len(text)

        def picture(self, p: int) -> str:
            return "\n".join("o" * p)

    questions = ["0", "", "text 2", "picture 3", "parse ooo", "parse ", "parse x", "parse ooooooooooo", "11", "²", "-1", "1 2"]
    assert Program(Spelled, {}).answers(questions) == [
        "lose", "", "stone stone ", "o/o/o", "3", "0", "error expected only o",
        "error expected a position from 0 to 10, found 11", "error 11 is not a position: the largest is 10",
        *(f"error Spelled does not answer {question!r}" for question in ("²", "-1", "1 2")),
    ]  # fmt: skip


def test_position_error() -> None:
    """A class can refuse a number."""

    def primitive(self: object, p: int) -> None:
        raise PositionError(f"{p} is odd")

    assert answer(changed(primitive=primitive), 3) == "error 3 is odd"


class Tiers:
    """A position is a number of stones. Each move takes some: the tier is the number of those taken."""

    players = ("A", "B")
    bits = 4
    tiers = 3
    start = 3

    def tier(self, p: int) -> Any:
        return 3 - p

    def player(self, p: int) -> Any:
        return 1 + p % 2

    def primitive(self, p: int) -> Any:
        return None if p else "tie"

    def moves(self, p: int) -> Any:
        return range(p)

    def text(self, p: int) -> str:
        return str(p)

    def parse(self, text: str) -> int:
        return int(text)


def test_tiers() -> None:
    """The methods of the class see its own numbers."""
    program = Program(Tiers, {})
    assert "start 3" in program.header() and "bits 6" in program.header()
    assert program.answers(["3", "33", "48", "text 33", "parse 2", "parse 9", "64"]) == [
        "2 48 33 18", "2 48", "1 tie", "1", "18", "error Tiers.tier(9): expected 0 to 3, found -6",
        "error 64 is not a position: the largest is 63",
    ]  # fmt: skip
    many = type("Many", (Tiers,), {"tiers": 99, "bits": 7, "tier": lambda self, p: 99 - p})
    assert len(answer(many, 99).split()) == 1 + 99  # the player and the moves
    assert answer(Tiers, 49) == "error 49 is not a position: its highest bits are not its tier"


class Around(Tiers):
    """Stones are also put back, up to three, as long as there are two."""

    loops = [1]

    def tier(self, p: int) -> int:
        return 1 if p > 1 else 3

    def moves(self, p: int) -> Any:
        return [2, 3] if p > 2 else [1, 3]


def test_loops() -> None:
    """A move may stay in a tier with loops, and leads to no earlier one."""
    start = type("Around", (Around,), {"tier": lambda self, p: {4: 0, 0: 3, 1: 3}.get(p, 1), "start": 4})
    program = Program(start, {})
    assert "tiers 3\nloops 1\n" in program.header()
    assert program.answers(["4", "19", "18"]) == ["1 18 19", "2 18 19", "1 49 19"]
    every = type("Every", (start,), {"loops": "all"})
    assert "loops all\n" in Program(every, {}).header()
    back = type("Back", (start,), {"moves": lambda self, p: [p, 4]})
    with pytest.raises(RulesError, match=r"^Back\.tier\(4\): expected a tier from 1 to 3 for a move from 2, found 0$"):
        answer(back, 18)


LINE = r"test_rules\.py line \d+: "
MOVES = r"expected integers, pairs \(name, integer\), or a dict of these: "


@pytest.mark.parametrize(
    "rules, message",
    [
        (changed(start=None, __init__=lambda self: None), r"Ten\.start: expected an integer, found None"),
        (changed(positions=5, __init__=lambda self: None, start=5), r"Ten\.start: expected a position from 0 to 4, found 5"),
        (type("Ten", (), {"moves": 1}), r"Ten\.start is missing"),
        (type("Ten", (), {"start": 1, "moves": 1}), r"Ten\.primitive is missing"),
        (type("Ten", (), {"start": 1, "primitive": 1}), r"Ten\.moves is missing"),
        (changed(tier=lambda self, p: 0), r"Ten\.tiers is missing"),
        (changed(tiers=3), r"Ten\.tier is missing"),
        (changed(loops="all"), r"Ten\.tier is missing"),
        (changed(loops="all", tier=lambda self, p: 0), r"Ten\.tiers is missing"),
        (changed(loops=[0, 4], tier=lambda self, p: 0, tiers=3), r"Ten\.loops: expected 'all' or tiers from 0 to 3, found \[0, 4\]"),
        (changed(loops="every", tier=lambda self, p: 0, tiers=3), r"Ten\.loops: expected an integer, found 'e'"),
        (changed(loops=1, tier=lambda self, p: 0, tiers=3), rf"Ten\.loops: .*'int' object is not iterable"),
        (changed(name=5), r"Ten\.name: expected a string, found 5"),
        (changed(bits="many"), r"Ten\.bits: expected an integer, found 'many'"),
        (changed(bits=lambda self: 1 // 0), rf"Ten\.bits: {LINE}ZeroDivisionError: .*"),
        (changed(start=property(lambda self: self.strat), __init__=lambda self: None), r"Ten\.start: .*AttributeError: .*strat.*"),
        (changed(primitive=lambda self, p: True), r"Ten\.primitive\(5\): expected None, 'win', 'lose', 'tie', found True"),
        (changed(primitive=lambda self, p: 0), r"Ten\.primitive\(5\): expected None, 'win', 'lose', 'tie', found 0"),
        (changed(primitive=lambda self, p: "WIN"), r"Ten\.primitive\(5\): expected None, 'win', 'lose', 'tie', found 'WIN'"),
        (changed(primitive=lambda self, p: [p] * 99), r"Ten\.primitive\(5\): expected None, 'win', .* found \[5, 5, [5, ]{53}"),
        (changed(primitive=lambda self, p: "win", puzzle=True), r"Ten\.primitive\(5\): expected None, 'solved', 'stuck', found 'win'"),
        (changed(primitive=lambda self, p: 1 // 0), rf"Ten\.primitive\(5\): {LINE}ZeroDivisionError: .*"),
        (changed(moves=lambda self, p: None), rf"Ten\.moves\(5\): {MOVES}'NoneType' object is not iterable"),
        (changed(moves=lambda self, p: []), r"Ten\.moves\(5\): expected 1 to 65535 moves where primitive returns None, found 0"),
        (changed(moves=lambda self, p: range(65536)), r"Ten\.moves\(5\): expected 1 to 65535 moves .*, found 65536"),
        (changed(moves=lambda self, p: [1.0]), rf"Ten\.moves\(5\): {MOVES}'float' object cannot be interpreted as an integer"),
        (changed(moves=lambda self, p: ["1"]), rf"Ten\.moves\(5\): {MOVES}'str' object cannot be interpreted as an integer"),
        (changed(moves=lambda self, p: [1, ("a", 2)]), rf"Ten\.moves\(5\): {MOVES}'tuple' object .*"),
        (changed(moves=lambda self, p: [("a", 1), 2]), rf"Ten\.moves\(5\): {MOVES}cannot convert dictionary .*"),
        (changed(moves=lambda self, p: [("a", 1, 2)]), rf"Ten\.moves\(5\): {MOVES}dictionary update sequence .*"),
        (changed(moves=lambda self, p: [1, 2, 1]), r"Ten\.moves\(5\): found 3 moves, but 1 of them twice"),
        (changed(moves=lambda self, p: [("a", 1), ("a", 2)]), r"Ten\.moves\(5\): found 2 moves, but 1 of them twice"),
        (changed(moves=lambda self, p: [p - 6]), r"Ten\.moves\(5\): expected positions from 0 to 10, found -1"),
        (changed(moves=lambda self, p: {"a": p + 6}), r"Ten\.moves\(5\): expected positions from 0 to 10, found 11"),
        (changed(moves=lambda self, p: {"a b": 1}), r"Ten\.moves\(5\): expected names of moves without blanks and colons, found 'a b'"),
        (changed(moves=lambda self, p: {"": 1}), r"Ten\.moves\(5\): expected names of moves without blanks and colons, found ''"),
        (changed(moves=lambda self, p: {"a\n": 1}), r"Ten\.moves\(5\): expected names of moves without blanks and colons, found 'a\\n'"),
        (changed(moves=lambda self, p: {5: 1}), r"Ten\.moves\(5\): expected a string, found 5"),
        (changed(moves=lambda self, p: (1 // q for q in [0])), rf"Ten\.moves\(5\): {LINE}ZeroDivisionError: .*"),
        (changed(moves=lambda self: [1]), r"Ten\.moves\(5\): .*<lambda>\(\) takes 1 positional argument.*"),
        (changed(player=lambda self, p: 0), r"Ten\.player\(5\): expected 1, 2, found 0"),
        (changed(player=lambda self, p: "X"), r"Ten\.player\(5\): expected 1, 2, found 'X'"),
    ],
)  # fmt: skip
def test_wrong(rules: Type[Any], message: str) -> None:
    with pytest.raises(RulesError, match=f"^{message}$"):
        Program(rules, {}).header()
        answer(rules, 5)


@pytest.mark.parametrize(
    "tier, question, message",
    [
        (lambda self, p: 0, 3, r"Tiers\.tier\(0\): expected a tier from 1 to 3 for a move from 3, found 0"),
        (lambda self, p: 4 if p == 1 else 3 - p, 3, r"Tiers\.tier\(1\): expected a tier from 1 to 3 for a move from 3, found 4"),
        (lambda self, p: 1 // p, 3, rf"Tiers\.tier\(0\): {LINE}ZeroDivisionError: .*"),
        (lambda self, p: None if p == 2 else 3 - p, "parse 2", "error Tiers.tier.*found None"),
    ],
)
def test_wrong_tier(tier: Any, question: object, message: str) -> None:
    with pytest.raises(RulesError, match=f"^{message}$"):
        line = answer(type("Tiers", (Tiers,), {"tier": tier}), question)
        raise RulesError(line)


@pytest.mark.parametrize(
    "values, message",
    [
        ({"stones": 1.5}, r"Ten\.__init__\(stones=1\.5\): expected an integer, found 1\.5"),
        ({"stones": "x"}, r"Ten\.__init__\(stones=x\): expected an integer, found 'x'"),
        ({"stone": 3}, r"Ten: expected parameters stones, found stone"),
    ],
)
def test_wrong_parameters(values: Dict[str, Any], message: str) -> None:
    with pytest.raises(RulesError, match=f"^{message}$"):
        Program(Ten, values)

    class NoDefault(Ten):
        def __init__(self, stones: int) -> None:
            pass

    class Raises(Ten):
        def __init__(self, stones: int = 3) -> None:
            raise ValueError("too few")

    with pytest.raises(RulesError, match=r"^NoDefault\.__init__\(.*\): expected an integer, found <class 'inspect\._empty'>$"):
        Program(NoDefault, {})
    with pytest.raises(RulesError, match=rf"^Raises\.__init__\(stones=4\): {LINE}ValueError: too few$"):
        Program(Raises, {"stones": 4})


def program(directory: Path, text: str) -> List[str]:
    """Write a program, and return its command."""
    file = directory / "game.py"
    file.write_text(textwrap.dedent(text))
    return [sys.executable, str(file)]


GAME = """
    from treereduce.rules import main

    class Game:
        start = 3

        def primitive(self, p):
            print("primitive", p)
            return None if p else "win"

        def moves(self, p):
            if p == 2:
                raise KeyError("é")
            return [p - 1]

    if __name__ == "__main__":
        main(Game)
"""


def test_process(tmp_path: Path) -> None:
    """What a class prints does not get into the answers, and the last line of stderr is the error."""
    with Run(*program(tmp_path, GAME)) as run:
        assert run.header["bits"] == ["64"] and run.ask([3, 0, 2**64 - 1]) == ["2", "win", str(2**64 - 2)]
    assert run.stderr == f"primitive 3\nprimitive 0\nprimitive {2**64 - 1}\n"
    for arguments, questions, last in (
        ([], "3\n2\n1\n\n", "Game.moves(2): game.py line 13: KeyError: 'é'"),
        (["x=1"], "", "Game: expected parameters , found x"),
    ):
        ended = subprocess.run(
            [*program(tmp_path, GAME), *arguments], input=questions, env={"PYTHONPATH": str(HERE), "PYTHONUTF8": "1"},
            capture_output=True, text=True,
        )  # fmt: skip
        assert ended.returncode == 1 and ended.stderr.splitlines()[-1] == last
        assert "rules.py" not in ended.stderr


def test_class_of_a_file(tmp_path: Path) -> None:
    """python3 -m treereduce runs a class of a file, whose main part does not run."""
    command = program(tmp_path, GAME.replace("main(Game)", "raise SystemExit"))
    with Run(command[0], "-m", "treereduce", command[1], "Game") as run:
        assert run.ask([3]) == ["2"]


def test_many_questions(tmp_path: Path) -> None:
    """Answers do not wait for the end of the input, nor for more than an empty line."""
    with Run(*program(tmp_path, GAME)) as run:
        for count in (1, 2, 300, 3):
            assert run.ask([3] * count) == ["2"] * count
