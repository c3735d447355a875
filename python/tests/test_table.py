"""Tests of Table on real tables, which driver solves."""

import multiprocessing
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, Iterator, List, Tuple

import numpy
import pandas
import pytest
from flit_core import buildapi

from treereduce import DriverError, Move, Position, PositionError, Table
from treereduce.driver import find_driver

HERE = Path(__file__).parents[1]
BOARD = "     XO   X         "  # after the moves 1 1 2


def solve(directory: Path, *game: str) -> Path:
    subprocess.run([find_driver(), "solve", *game, "--data", directory], check=True, stdout=subprocess.DEVNULL)
    return directory


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("data") / "connect 3"
    return solve(directory, "connectn", "--width", "4", "--height", "5", "--connect", "3")


@pytest.fixture(scope="session")
def cycles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return solve(tmp_path_factory.mktemp("data") / "cross", "quickcross")


@pytest.fixture
def table(data: Path) -> Iterator[Table]:
    with Table(data) as opened:
        yield opened
    with pytest.raises(ChildProcessError):  # no process is left
        os.waitpid(-1, os.WNOHANG)


def test_lookup(table: Table) -> None:
    want = Position(BOARD, 16512, "lose", 2, "X wins")
    for form in ("1 1 2", [1, 1, 2], ["1", "1", "2"], 16512, "#16512", "0x4080", BOARD, f'"{BOARD}"', want):
        assert table.lookup(form) == want, form
    assert table.lookup("").remoteness == table.lookup([]).remoteness == 11


def test_integers(table: Table) -> None:
    want = table.lookup(16512)
    frame = pandas.DataFrame({"hash": [16512]})
    for key in (numpy.uint64(16512), frame["hash"].iloc[0], frame["hash"].astype("Int64").iloc[0], numpy.array(16512)):
        assert table.lookup(key) == want, type(key)
    assert table.lookup(numpy.array([1, 1, 2])) == want
    with pytest.raises(TypeError):
        table.lookup(16512.0)  # type: ignore[arg-type]


def look_up(table: Table, hashes: List[int]) -> List[Tuple[int, int, int]]:
    """Return each hash with those in its answers, from the table and from the moves."""
    return [(key, table.lookup(key).hash, len(table.moves(key))) for key in hashes]


def test_shared(table: Table) -> None:
    hashes = [position.hash for position in table.positions(sample=600, seed=1)]
    want = look_up(table, hashes)
    assert [key for key, _, _ in want] == [key for _, key, _ in want]
    parts = [hashes[i::6] for i in range(6)]
    wants = [want[i::6] for i in range(6)]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(look_up, [table] * 6, parts)) == wants
    context = multiprocessing.get_context("fork")
    ends, children = [], []
    for part in parts:
        end, other = context.Pipe()
        child = context.Process(target=answer, args=(table, part, other))
        child.start()
        other.close()
        ends.append(end)
        children.append(child)
    assert look_up(table, hashes) == want  # at the same time
    assert [end.recv() for end in ends] == wants
    for child in children:
        child.join()
    assert look_up(table, hashes) == want


def answer(table: Table, hashes: List[int], end: Any) -> None:
    with table:  # close does not end the processes of the parent
        end.send(look_up(table, hashes))


def test_shared_iterator(table: Table) -> None:
    positions = table.positions(tier=5)
    first = next(positions)
    end, other = multiprocessing.get_context("fork").Pipe()
    child = multiprocessing.get_context("fork").Process(target=go_on, args=(positions, other))
    child.start()
    other.close()
    assert "before a fork" in end.recv()
    child.join()
    assert [first, *positions] == list(table.positions(tier=5))


def go_on(positions: Iterator[Position], end: Any) -> None:
    try:
        end.send(next(positions).position)
    except DriverError as error:
        end.send(str(error))


def test_other_answer(table: Table) -> None:
    table.lookup("1 1 2")
    process = table._lookups["--json"]
    process.stdin.write(b"1 2\n")  # as another process that shares the pipe
    process.stdin.flush()
    with pytest.raises(DriverError):
        table.lookup("1 1 2")
    assert table.lookup("1 1 2").hash == 16512


def test_moves(table: Table) -> None:
    assert table.moves("1 1 2") == [Move(str(column), "lose", 2) for column in range(4)]
    assert table.moves("")[0] == Move("1", "win", 11)
    line = table.best_line()
    assert line == "1 2 2 1 1 3 1 1 2 0 2".split()
    for played in range(len(line) + 1):
        assert table.lookup(line[:played]).remoteness == 11 - played
    assert table.moves(line) == [] and table.best_line(line) == []


@pytest.mark.parametrize("wrong", ["9", -1, [1] * 6, [1] * 200_000, "1\n2", "1\n", "1\r", " . . . .", "  ", "\t", "é" * 9])
def test_wrong_position(table: Table, wrong: Any) -> None:
    for _ in range(2):
        with pytest.raises(PositionError):
            table.lookup(wrong)
        assert table.lookup(BOARD).hash == 16512


def test_messages(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PositionError, match='^move 2: expected one of 0 1 2 3, found "7"$'):
        table.moves("1 7")
    with pytest.raises(ValueError, match='^"XXX  OOO {12}" cannot be reached from the initial position$'):
        table.lookup("XXX  OOO" + " " * 12)
    with pytest.raises(DriverError, match='^--tier "99": expected a number from 0 to 20, or a range such as 3-5$'):
        list(table.positions(99))
    with pytest.raises(DriverError, match='^--outcome "Z": expected "X", "O", "tie", or a value byte$'):
        table.frame(outcome="Z")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))  # without it, the directory is looked up in a cluster, too
    with pytest.raises(DriverError, match=f"^{tmp_path}/none: no such directory$"):
        Table(tmp_path / "none")
    with pytest.raises(DriverError, match=f"^no program {tmp_path}/driver$"):
        Table(tmp_path, driver=tmp_path / "driver")
    monkeypatch.setenv("TREEREDUCE_DRIVER", "/no/such/driver")
    with pytest.raises(DriverError, match="^no program /no/such/driver$"):
        Table(table.path)
    assert find_driver("sh").endswith("/sh")  # the argument comes first


def test_find_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TREEREDUCE_DRIVER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_driver() == str(HERE.parent / "bin" / "driver")
    with monkeypatch.context() as installed:  # by pip, without a driver
        installed.setattr("treereduce.driver.__file__", str(tmp_path / "lib" / "site-packages" / "treereduce" / "driver.py"))
        with pytest.raises(DriverError, match="^no driver in PATH: make builds it, and the wheel of a release has it; TREEREDUCE_DRIVER is its path$"):
            find_driver()
        (tmp_path / "lib" / "go.mod").parent.mkdir()
        (tmp_path / "lib" / "go.mod").touch()
        with pytest.raises(DriverError, match=f"^no driver in PATH and no {tmp_path}/lib/bin/driver: build it with make, or set TREEREDUCE_DRIVER$"):
            find_driver()
    other = tmp_path / "driver"
    other.symlink_to("/bin/sh")
    assert find_driver() == str(other)
    monkeypatch.setattr("treereduce.driver.PROGRAMS", tmp_path / "wheel")
    assert find_driver() == str(other)
    (tmp_path / "wheel").mkdir()
    (tmp_path / "wheel" / "driver").symlink_to("/bin/sh")
    assert find_driver() == str(tmp_path / "wheel" / "driver")


def test_driver_ends(table: Table) -> None:
    (process,) = table._lookups.values()
    process._popen.send_signal(signal.SIGKILL)
    with pytest.raises(DriverError, match="^driver ended with status -9$"):
        table.lookup("1")
    assert table.lookup("1").remoteness == 10


def test_interrupted(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that was not read is not taken for that of the next position."""

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("treereduce.table.json.loads", interrupt)
    with pytest.raises(KeyboardInterrupt):
        table.lookup("0")
    monkeypatch.undo()
    assert table.lookup(BOARD).hash == 16512


def test_positions(table: Table) -> None:
    assert sorted(p.hash for p in table.positions(1)) == [2, 128, 8192, 524288]
    assert sorted(p.position for p in table.positions("1-2", outcome="X", remoteness=3)) == ["          XO        ", "     XO             "]
    everything = list(table)
    assert len(everything) == len(set(everything)) == len(table) == 195472
    sample = list(table.positions(sample=200, seed=1))
    assert sample == list(table.positions(sample=200, seed=1))
    assert all(table.lookup(p) == table.lookup(p.position) == p for p in sample)
    some = table.positions()
    assert next(islice(some, 3, None)).hash == everything[3].hash
    some.close()  # type: ignore[attr-defined]  # it ends the process


def test_stats(table: Table) -> None:
    assert table.game == "connectn width=4 height=5 connect=3"
    assert [tier["positions"] for tier in table.stats()["tiers"]][:4] == [1, 4, 16, 52]


def test_frame(table: Table) -> None:
    frame = table.frame(12)
    assert [Position(*row) for row in frame.itertuples(index=False)] == list(table.positions(12))
    assert frame.dtypes.astype(str).to_dict() == {
        "position": "str", "hash": "uint64", "value": "category", "remoteness": "Int16", "outcome": "category",
    }  # fmt: skip
    assert len(table.frame()) == len(table)
    assert table.frame(1, outcome="O").empty


def test_draws(cycles: Path) -> None:
    with Table(cycles) as table:
        draw = table.lookup("|-./.../...")
        assert draw == Position("|-./.../...", 5, "draw", None, "DRAW")
        assert table.moves(draw)[0] == Move("a3-", "draw", None)
        assert table.best_line(draw)[:3] == ["a3-", "b3|", "c2-"]
        frame = table.frame(outcome="draw")
        assert frame["remoteness"].isna().all() and len(frame) == len(list(table.positions(outcome="draw"))) > 0
        assert not table.frame(outcome="win")["remoteness"].isna().any()
        assert isinstance(frame, pandas.DataFrame)


def test_example(data: Path, tmp_path: Path) -> None:
    """The example runs with the standard library alone (-S), and draws what stats counts."""
    chart = tmp_path / "chart.svg"
    printed = subprocess.run(
        [sys.executable, "-S", HERE / "examples" / "remoteness.py", data, chart],
        env={**os.environ, "PYTHONPATH": str(HERE)}, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert printed == f"connectn width=4 height=5 connect=3: 21 tiers, remoteness up to 17, in {chart}\n"
    titles = [e.text for e in ET.parse(chart).iter("{http://www.w3.org/2000/svg}title")]
    assert titles[0] == "tier 0, remoteness 11: 100.00%" and "tier 1, remoteness 10: 50.00%" in titles


def test_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    with zipfile.ZipFile(tmp_path / buildapi.build_wheel(str(tmp_path))) as wheel:
        assert {"treereduce/py.typed", "treereduce/table.py"} <= set(wheel.namelist())
