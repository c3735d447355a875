"""Tests of solve, which runs driver with a rules program."""

import linecache
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Iterator

import pytest
from protocol import EXAMPLES, HERE
from stones import Broken, Stones

from treereduce import DriverError, Move, Position, PositionError, Table, solve
from treereduce.driver import find_driver
from treereduce.rules import RulesError


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_solve(tmp_path: Path) -> None:
    data = tmp_path / "a" / "stones"
    with solve(Stones, data, stones=21) as table:
        assert table.game.startswith("stones stones=21 code=") and len(table) == 22
        assert table.lookup("oooo") == table.lookup(4) == table.lookup(["take3", "take2"] * 3 + ["take2"])
        assert table.lookup("").value == "win" and table.lookup("").remoteness == 11
        assert table.moves("ooooo")[0] == Move("take1", "win", 3)
        assert [p.hash for p in table if p.value == "lose"] == [0, 4, 8, 12, 16, 20]
        with pytest.raises(PositionError):
            table.lookup("o" * 22)
    written = (data / "treereduce.json").stat().st_mtime_ns
    with solve(Stones, data, stones=21) as table:  # opens the table
        assert len(table) == 22
    assert (data / "treereduce.json").stat().st_mtime_ns == written
    with solve(Stones, data, stones=9) as table:  # another game replaces it
        assert len(table) == 10
    command = f"{os.path.basename(sys.executable)} -m treereduce {HERE / 'tests' / 'stones.py'} Stones"
    with Table(data, rules=command) as table:
        assert table.lookup("oooo").value == "lose"


def test_same_as_driver(tmp_path: Path) -> None:
    """A table of an example has the positions of driver's own game."""
    game, own = tmp_path / "game", tmp_path / "own"
    names = {"__name__": "mnk", "__file__": str(EXAMPLES / "mnk.py")}
    sys.modules["mnk"] = module = ModuleType("mnk")
    vars(module).update(names)
    exec(compile((EXAMPLES / "mnk.py").read_text(), names["__file__"], "exec"), vars(module))
    subprocess.run([find_driver(), "solve", "mnk", f"--data={own}"], check=True, stdout=subprocess.DEVNULL)
    with solve(module.MNK, game) as table, Table(own) as want:
        assert {p._replace(hash=0) for p in table} == {p._replace(hash=0) for p in want}


def test_puzzle(tmp_path: Path) -> None:
    """The words of a puzzle select the positions that have them."""
    rules = f"{sys.executable} {EXAMPLES / 'hanoi.py'}"
    environment = {**os.environ, "PYTHONPATH": str(HERE), "TREEREDUCE_RULES": rules}
    command = [find_driver(), "solve", "hanoi", "--disks=3", f"--data={tmp_path}"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    with Table(tmp_path, rules=rules) as table:
        assert table.lookup("aaa") == Position("aaa", 0, "solved", 7, "solved")
        for word, n in ("solved", 27), ("unsolvable", 0):
            assert [p.value for p in table.positions(outcome=word)] == [word] * n
        with pytest.raises(DriverError, match='^--outcome "tie": expected "solved", "unsolvable", or a value byte$'):
            list(table.positions(outcome="tie"))


def test_errors(tmp_path: Path) -> None:
    class Local(Stones):
        pass

    with pytest.raises(RulesError, match="^Local: define the class at the top level of a file, or in a cell of a notebook$"):
        solve(Local, tmp_path / "data")
    with pytest.raises(RulesError, match="^Stones: expected parameters stones, found height$"):
        solve(Stones, tmp_path / "data", height=3)
    with pytest.raises(DriverError, match=r"Broken\.moves\(2\): stones\.py line \d+: ZeroDivisionError"):
        solve(Broken, tmp_path / "data")


CELL = """
import functools
LARGEST = 3
table = None

@functools.lru_cache
def taken(n):
    return f"{word}{n}"

class Stones:
    start = 10
    positions = 11

    def primitive(self, p):
        return "lose" if p == 0 else None

    def moves(self, p):
        numbers = math.prod([1]), *ints(range(2, LARGEST + 1))
        return {taken(n): p - n for n in numbers if n <= p}

table = treereduce.solve(Stones, DATA)
"""


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the module __main__ of a notebook, in which a first cell has run."""
    module = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    run_cell(module, "from typing import List\nimport math, treereduce\nfrom builtins import list as ints\n")
    return module


def run_cell(module: ModuleType, cell: str) -> None:
    """Run a cell as IPython does."""
    name = f"<ipython-input-{len(cell)}>"
    linecache.cache[name] = len(cell), None, cell.splitlines(True), name
    exec(compile(cell, name, "exec"), vars(module))


def test_notebook(notebook: ModuleType, tmp_path: Path) -> None:
    """The program of a class in a notebook has the definitions of its cell and the imports of others."""
    notebook.DATA = str(tmp_path / "new" / "data")  # type: ignore[attr-defined]
    run_cell(notebook, CELL.replace("{word}", "take"))
    with notebook.table as table:
        assert table.moves(5)[0] == Move("take1", "win", 3) and len(table) == 11
    assert "solve" not in (tmp_path / "new" / "data.rules.py").read_text()
    run_cell(notebook, CELL.replace("{word}", "take").replace("10", "12").replace("11", "13"))  # the cell is edited
    with notebook.table as table:
        assert len(table) == 13
    notebook.word = "take"  # type: ignore[attr-defined]
    with pytest.raises(RulesError, match="^word is defined in another cell: define it in the cell of the class$"):
        run_cell(notebook, CELL)


def test_script(tmp_path: Path) -> None:
    """A script can define and solve a game. It must not solve while its program imports it."""
    script = tmp_path / "script.py"
    text = (
        "from treereduce import solve\n"
        "class Stones:\n"
        "    start = 3\n"
        "    def primitive(self, p): return None if p else 'lose'\n"
        "    def moves(self, p): return [p - 1]\n"
    )
    for last, status in ("if __name__ == '__main__': print(len(solve(Stones)))\n", 0), ("solve(Stones)\n", 1):
        script.write_text(text + last)
        ended = subprocess.run(
            [sys.executable, script], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(HERE)}, capture_output=True, text=True
        )
        assert ended.returncode == status, ended.stderr
        assert "4\n" == ended.stdout if status == 0 else "call solve only if __name__ == '__main__'" in ended.stderr
