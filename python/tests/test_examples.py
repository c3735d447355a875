"""Tests of the examples of rules programs, against published counts and driver's own games."""

import csv
import json
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Dict, List, Tuple

import pytest
from protocol import EXAMPLES, HERE, Run, Value, python, solved

from treereduce.driver import find_driver

LONG = pytest.mark.skipif("TREEREDUCE_LONG" not in os.environ, reason="takes minutes: set TREEREDUCE_LONG")

#: The 8-puzzle's numbers of positions at each distance, OEIS A089473.
EIGHT = [
    1, 2, 4, 8, 16, 20, 39, 62, 116, 152, 286, 396, 748, 1024, 1893, 2512, 4485, 5638, 9529, 10878, 16993, 17110,
    23952, 20224, 24047, 15578, 14560, 6274, 3910, 760, 221, 2,
]  # fmt: skip

#: The 2×2×2 cube's, with half turns.
CUBE2 = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644]


def export(directory: Path, game: str, parameters: Dict[str, int]) -> List[Dict[str, str]]:
    """Solve one of driver's own games, and return the rows of its export."""
    words = [f"--{name}={value}" for name, value in parameters.items()]
    data = f"--data={directory / 'data'}"
    subprocess.run([find_driver(), "solve", game, *words, data], check=True, stdout=subprocess.DEVNULL)
    command = [find_driver(), "export", data, "--format=csv"]
    return list(csv.DictReader(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()))


@pytest.mark.parametrize(
    "game, parameters",
    [
        ("mnk", {"width": 4, "height": 3, "connect": 3}),
        ("mnk", {"width": 3, "height": 2, "connect": 2}),
        ("mancala", {"pits": 3, "stones": 2}),
        ("dodgem", {"size": 3}),
        ("quickcross", {"width": 3, "height": 3, "connect": 3}),
        ("quickcross", {"width": 4, "height": 2, "connect": 3}),
    ],
)
def test_same_as_driver(game: str, parameters: Dict[str, int], tmp_path: Path) -> None:
    """The positions, values and texts are those of driver's own game, and the hashes if no tier is in them."""
    with python(game, **parameters) as run:
        assert run.header["parameter"] == [f"{name} {value}" for name, value in parameters.items()]
        answers, values = run.positions(), solved(run)
        tiers = "tiers" in run.header
        names = run.header.get("players", [""])[0].split(", ")
        found = set()
        for (p, (value, remoteness)), text in zip(values.items(), run.ask(f"text {p}" for p in values)):
            outcome = value
            if tiers and value != "tie":  # the value names the winner
                outcome = names[(answers[p].player == 1) != (value == "win")] + " wins"
            found.add((text, "" if tiers else str(p), value, "" if remoteness is None else str(remoteness), outcome))
    want = set()
    for row in export(tmp_path, game, parameters):
        outcome = row["outcome"] if tiers else row["outcome"].lower()
        want.add((row["position"], "" if tiers else row["hash"], row["value"], row["remoteness"], outcome))
    assert found == want


@pytest.mark.parametrize("game", ["mnk", "mancala", "dodgem", "quickcross", "chomp", "kaooa", "hanoi", "eight"])
def test_parse(game: str) -> None:
    """parse is the inverse of text, and refuses other texts."""
    with python(game) as run:
        some = [run.start]
        for _ in range(4):
            some += [to for p in some[-3:] for to in run.ask_position(p).moves.values()]
        texts = run.ask(f"text {p}" for p in some)
        assert run.ask(f"parse {text}" for text in texts) == list(map(str, some))
        for answer in run.ask(["parse", "parse ?", f"parse {texts[0]}/...", f"parse {texts[0][1:]}"]):
            assert answer.startswith("error "), answer


def depths(run: Run) -> List[int]:
    """Return the number of positions at each distance from the solved one."""
    counts = Counter(value.remoteness for value in solved(run).values())
    return [counts[depth] for depth in range(len(counts))]


def test_hanoi() -> None:
    with python("hanoi", disks=5) as run:
        values = solved(run)
        assert values[run.start] == Value("solved", 31) and len(values) == 3**5
    with python("hanoi", disks=4) as run:
        assert depths(run) == [2 ** bin(depth).count("1") for depth in range(16)]  # Gould's sequence
        assert run.ask(["picture 0", "picture 80", "picture 5"]) == ["1 . ./2 . ./3 . ./4 . .", ". . 1/. . 2/. . 3/. . 4", ". . ./. . ./3 . ./4 2 1"]


def test_eight() -> None:
    with python("eight") as run:
        values = solved(run)
        assert values[run.start] == Value("solved", 31)
        counts = Counter(value.remoteness for value in values.values())
        assert [counts[depth] for depth in range(len(counts))] == EIGHT


@LONG
def test_cube2(tmp_path: Path) -> None:
    """driver solves it: the solver of these tests would need some gigabytes."""
    environment = {**os.environ, "PYTHONPATH": str(HERE), "TREEREDUCE_RULES": f"{sys.executable} {EXAMPLES / 'cube2.py'}"}
    for command in ["solve", "cube2"], ["stats", "--json"]:
        words = [find_driver(), *command, f"--data={tmp_path}"]
        text = subprocess.run(words, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert [row["tie"] for row in json.loads(text)["remoteness"]] == CUBE2


@pytest.mark.parametrize("size", [(5, 4), (4, 3), (1, 1), (7, 6)])
def test_chomp(size: Tuple[int, int]) -> None:
    """The first player wins, but on one square."""
    with python("chomp", width=size[0], height=size[1]) as run:
        values = solved(run)
        assert len(values) == math.comb(sum(size), size[0])
        assert values[run.start].value == ("lose" if size == (1, 1) else "win")


def test_chomp_picture() -> None:
    with python("chomp", width=3, height=2) as run:
        assert run.ask(["15", "text 7", "picture 7"]) == ["a1:96 b1:69 c1:42 a2:51 b2:39 c2:27", "3 1", "# # #/# . ."]


@pytest.mark.parametrize(
    "parameters, positions, start",
    [
        ({}, {"win": 2195, "lose": 1420, "draw": 18081}, Value("draw", None)),  # GamesmanOne's rules: 21,696 positions
        ({"crows": 7, "captures": 4}, {"win": 6396, "lose": 4425, "draw": 20075}, Value("win", 15)),
    ],
)
def test_kaooa(parameters: Dict[str, int], positions: Dict[str, int], start: Value) -> None:
    with python("kaooa", **parameters) as run:
        values = solved(run)
        assert Counter(value.value for value in values.values()) == positions and values[run.start] == start
        (p,) = run.ask(["parse C++++V++++ 1 C"])
        assert run.ask([f"picture {p}"]) == [". . . C . . ./+ . + . V . +/. + . . . + ./. . . + . . ./. + . . . + ."]


@pytest.mark.parametrize("heaps", [{}, {"a": 1, "b": 2, "c": 3}])
def test_nim(heaps: Dict[str, int]) -> None:
    """A player loses if the exclusive or of the heaps is 0."""
    java = shutil.which("java")
    if not java:
        pytest.skip("no java")
    with Run(java, EXAMPLES / "Nim.java", *(f"{name}={stones}" for name, stones in heaps.items())) as run:
        values = solved(run)
    sizes = heaps or {"a": 3, "b": 4, "c": 5}
    assert len(values) == math.prod(stones + 1 for stones in sizes.values())
    for p, value in values.items():
        lost = p & 255 == (p >> 8 & 255) ^ p >> 16
        assert value.value == ("lose" if lost else "win")


@pytest.mark.parametrize("command", [["sh", "ten.sh"], ["awk", "-W", "interactive", "-f", "ten.awk"]])
def test_ten(command: List[str]) -> None:
    *words, file = command
    if not shutil.which(words[0]):
        pytest.skip(f"no {words[0]}")
    with Run(*words, EXAMPLES / file, "unused=1") as run:
        values = solved(run)
    assert {p for p, value in values.items() if value.value == "lose"} == {0, 4, 8} and len(values) == 11
