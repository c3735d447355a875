"""Solves a game whose rules are a Python class."""

from __future__ import annotations

import linecache
import os
import shlex
import sys
from pathlib import Path
from types import FunctionType
from typing import Any, Callable, Dict, Optional, SupportsIndex, Tuple

from treereduce import notebook
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
    file, expected = _file(rules, data)  # before a method of the class can change what it uses
    program = Program(rules, parameters)
    words = [f"--{name}={value}" for name, value in program.parameters.items()]
    words += [f"--data={os.fspath(data)}", "--resume" if resume else "--replace"]
    # Process puts the directory of this Python into PATH: the files that the command names are a part of the rules.
    # It is python3 if that is this Python, because the words of the command are a part of the rules, too.
    python = Path(sys.executable).with_name("python3")
    if not python.exists() or not python.samefile(sys.executable):
        python = Path(sys.executable)
    command = f"{python.name} -m treereduce {shlex.quote(file)} {rules.__name__}"
    with Process(find_driver(driver), "solve", program.name, *words, rules=command, expected=expected) as process:
        process.stdout.read()
        process.check()
    return Table(data, driver, command)


def _file(rules: Callable[..., Any], data: PathLike) -> Tuple[str, Dict[str, str]]:
    """Return the file that defines a class. A class of a notebook is written to one beside the data directory; then _file
    also returns its fingerprints."""
    if getattr(sys.modules["__main__"], "__package__", None) == __package__:  # this is the program of a class
        raise RulesError("call solve only if __name__ == '__main__', or in a cell after that of the class")
    module = sys.modules[rules.__module__]
    file: Optional[str] = getattr(module, "__file__", None)
    if file and getattr(module, rules.__name__, None) is rules:
        return os.path.abspath(file), {}
    code = next((f.__code__ for f in vars(rules).values() if isinstance(f, FunctionType)), None)
    lines = linecache.getlines(code.co_filename) if code and not file else []  # IPython puts the cells there
    if not lines:
        raise RulesError(f"{rules.__name__}: define the class at the top level of a file, or in a cell of a notebook")
    text = notebook.definitions("".join(lines), vars(module), sys.modules)
    path = Path(os.fspath(data) + ".rules.py").absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path), notebook.fingerprints(rules.__name__, vars(module))
