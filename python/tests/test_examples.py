"""Tests of the examples of rules programs, against published counts and driver's own games."""

import csv
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Dict, List

import pytest
from protocol import EXAMPLES, Run, Value, python, solved

from treereduce.driver import find_driver


def export(directory: Path, game: str, **parameters: int) -> List[Dict[str, str]]:
    """Solve one of driver's own games, and return its positions."""
    words = [f"--{name}={value}" for name, value in parameters.items()]
    subprocess.run([find_driver(), "solve", game, *words, f"--data={directory}"], check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run(
        [find_driver(), "export", f"--data={directory}", "--format=csv"], check=True, capture_output=True, text=True
    ).stdout
    return list(csv.DictReader(text.splitlines()))


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
    """The example has the positions, values and texts of driver's own game, and its hashes if it has no tiers."""
    with python(game, **parameters) as run:
        assert run.header["parameter"] == [f"{name} {value}" for name, value in parameters.items()]
        values = solved(run)
        texts = run.ask(f"text {p}" for p in values)
        names = run.header.get("players", [""])[0].split()
        hashes = ["" if "tiers" in run.header else str(p) for p in values]
        answers = run.positions()
    found = set()
    for (p, (value, remoteness)), text, key in zip(values.items(), texts, hashes):
        player = answers[p].player
        winner = player if value == "win" else 3 - player
        outcome = f"{names[winner - 1]} wins" if hashes[0] == "" and value in ("win", "lose") else value
        found.add((text, key, value, "" if remoteness is None else str(remoteness), outcome.lower()))
    want = set()
    for row in export(tmp_path / "data", game, **parameters):
        outcome = row["outcome"].lower().replace("row ", "row") if hashes[0] == "" else row["value"]
        want.add((row["position"], row["hash"] if hashes[0] else "", row["value"], row["remoteness"], outcome))
    assert found == {(*row[:4], row[4] if row[4] != "x wins" and row[4] != "o wins" else row[4]) for row in want}
