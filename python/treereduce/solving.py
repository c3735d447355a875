"""Solves a game whose rules are a Python class."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Any, Callable, Optional, SupportsIndex

from treereduce.driver import PathLike, Process, find_driver
from treereduce.rules import Program, RulesError
from treereduce.table import Table


def solve(
    rules: Callable[..., Any],
    data: PathLike = "all_data",
    driver: Optional[PathLike] = None,
    resume: bool = False,
    **parameters: SupportsIndex,
) -> Table:
    """Solve the game of a class into a data directory, and return its table.

    The class is one for treereduce.rules.main. If the directory contains the table of the same game,
    it is opened; a table of another game that took less than a minute is replaced. resume continues a
    run that was interrupted.
    """
    file = _file(rules)
    program = Program(rules, parameters)
    words = [f"--{name}={value}" for name, value in program.parameters.items()]
    words += [f"--data={os.fspath(data)}", "--resume" if resume else "--replace"]
    # Process puts the directory of this Python into PATH: the files that the command names are a part of the rules.
    # It is python3 if that is this Python, because the words of the command are a part of the rules, too.
    python = Path(sys.executable).with_name("python3")
    if not python.exists() or not python.samefile(sys.executable):
        python = Path(sys.executable)
    command = f"{python.name} -m treereduce {shlex.quote(file)} {rules.__name__}"
    with Process(find_driver(driver), "solve", program.name, *words, rules=command) as process:
        process.stdout.read()
        process.check()
    return Table(data, driver, command)


def _file(rules: Callable[..., Any]) -> str:
    """Return the file that defines a class."""
    if getattr(sys.modules["__main__"], "__package__", None) == __package__:  # this is the program of a class
        raise RulesError("call solve only if __name__ == '__main__'")
    module = sys.modules[rules.__module__]
    file: Optional[str] = getattr(module, "__file__", None)
    if not file or getattr(module, rules.__name__, None) is not rules:
        raise RulesError(
            f"{rules.__name__}: define the class at the top level of a file; in a notebook, begin its cell with %%writefile FILE.py,"
            " and import it in the next cell"
        )
    return os.path.abspath(file)
