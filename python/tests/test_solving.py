"""Tests of solve, which runs driver with a rules program."""

import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Iterator, List

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
    command = f"python3 -m treereduce {HERE / 'tests' / 'stones.py'} Stones"
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

    with pytest.raises(RulesError, match="^Local: define the class at the top level of a file; in a notebook, begin its cell with %%writefile FILE.py, "):
        solve(Local, tmp_path / "data")
    with pytest.raises(RulesError, match="^Stones: expected parameters stones, found height$"):
        solve(Stones, tmp_path / "data", height=3)
    with pytest.raises(DriverError, match=r"Broken\.moves\(2\): stones\.py line \d+: ZeroDivisionError"):
        solve(Broken, tmp_path / "data")


MODULE = """
class Base:
    start = 5
    positions = 6

    def primitive(self, p):
        return None if p else "lose"

    def moves(self, p):
        return [p - 1]
"""
PROGRAM = """
from lib.base import Base
from treereduce.rules import main

class One(Base):
    pass

if __name__ == "__main__":
    main(One)
"""


def checked(command: str, folder: Path, status: int = 0) -> List[str]:
    """Return what driver check prints of a program: its code, and what that is a hash of."""
    python = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": python, "PYTHONPATH": str(HERE)}
    ended = subprocess.run(
        [find_driver(), "check", "one", "--rules-program", command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert ended.returncode == status, ended.stderr
    return (ended.stdout or ended.stderr).replace(": 6 positions", "").splitlines()


@pytest.mark.parametrize(
    "command",
    [
        'python3 "my dir/one.py"', "cd 'my dir' && python3 one.py", "cd 'my dir' && python3 -m one", "python3 -m treereduce 'my dir/one.py' One",
        "env PYTHONPATH=$PYTHONPATH:lib.zip python3 one.py",
    ],
)  # fmt: skip
def test_identity(command: str, tmp_path: Path) -> None:
    """A change of the program, or of a module that it imports, is noticed."""
    folder = tmp_path if "zip" in command else tmp_path / "my dir"
    (folder / "lib").mkdir(parents=True)

    def write(name: str, text: str) -> None:
        if "zip" in command and "lib" in name:
            with zipfile.ZipFile(folder / "lib.zip", "w") as packed:
                packed.writestr(zipfile.ZipInfo("lib/__init__.py"), "")
                packed.writestr(zipfile.ZipInfo(name), text)
        else:
            (folder / name).write_text(text)

    write("lib/base.py", MODULE)
    write("one.py", PROGRAM)
    first = checked(command, tmp_path)
    names = [line.split()[1] for line in first if line.startswith("  module ")]
    assert names == ["__main__"] * ("treereduce" not in command) + ["lib"] * ("zip" in command) + ["lib.base"]
    write("lib/base.py", MODULE + "# more")
    second = checked(command, tmp_path)
    write("one.py", PROGRAM + "# more")
    assert len({first[0], second[0], checked(command, tmp_path)[0]}) == 3
    write("lib/base.py", MODULE)
    write("one.py", PROGRAM)
    assert checked(command, tmp_path) == first


def test_installed(tmp_path: Path) -> None:
    """A program that is installed has neither a file in the command nor a module that counts."""
    (tmp_path / "base.py").write_text(MODULE)
    code = "import site, base, treereduce.rules; site.getsitepackages = lambda: [WHERE]; base.Base.name = 'one'; treereduce.rules.main(base.Base)"
    (error,) = checked(shlex.join(["python3", "-c", code.replace("WHERE", repr(str(tmp_path)))]), tmp_path, 1)
    assert error.endswith("name them by --rules-files")
    assert "  module base " in "\n".join(checked(shlex.join(["python3", "-c", code.replace("WHERE", "")]), tmp_path))


def test_module_changed(tmp_path: Path) -> None:
    """A table is not opened if a module of its class has changed."""
    for name, text in ("lib.py", MODULE), ("one.py", PROGRAM.replace("lib.base", "lib")):
        (tmp_path / name).write_text(text)
    command = f"python3 -m treereduce {tmp_path / 'one.py'} One"
    subprocess.run(
        [sys.executable, "-c", "from one import One; from treereduce import solve; solve(One, 'data').close()"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": f"{HERE}{os.pathsep}{tmp_path}"}, check=True,
    )  # fmt: skip
    with Table(tmp_path / "data", rules=command) as table:
        assert len(table) == 6
    (tmp_path / "lib.py").write_text(MODULE.replace("[p - 1]", "[p - 2 + p % 2]"))
    with pytest.raises(DriverError, match="its rules program was another one"), Table(tmp_path / "data", rules=command) as table:
        table.lookup(5)


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


def test_table_in_rules(tmp_path: Path) -> None:
    """A file of rules can open a table of another game. With the rules of the file itself, that is an error."""
    subprocess.run([find_driver(), "solve", "mnk", f"--data={tmp_path / 'mnk'}"], check=True, stdout=subprocess.DEVNULL)
    script = tmp_path / "script.py"
    text = (
        "import os, sys\n"
        "depth = int(os.environ.get('DEPTH', 0))\n"
        "if depth > 2: sys.exit('too deep')\n"  # a fault must not start processes without end
        "os.environ['DEPTH'] = str(depth + 1)\n"
        "from treereduce import solve, Table\n"
        "reference = Table(ARGUMENTS)\n"
        "class Stones:\n"
        "    start = 3\n"
        "    def primitive(self, p): return None if p else 'lose'\n"
        "    def moves(self, p): return [p - 1]\n"
        "if __name__ == '__main__': print(len(solve(Stones)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    for arguments, status in ("'mnk'", 0), ("'all_data', rules='python3 -m treereduce script.py Stones'", 1):
        script.write_text(text.replace("ARGUMENTS", arguments))
        ended = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ended.returncode == status, ended.stderr
        assert "4\n" == ended.stdout if status == 0 else "it has started this command" in ended.stderr
        assert "too deep" not in ended.stderr
