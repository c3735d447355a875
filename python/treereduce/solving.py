"""Solves a game whose rules are a Python class."""

from __future__ import annotations

import ast
import dis
import linecache
import os
import shlex
import sys
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable, Dict, List, Optional, Set, SupportsIndex

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
    program = Program(rules, parameters)
    words = [f"--{name}={value}" for name, value in program.parameters.items()]
    words += [f"--data={os.fspath(data)}", "--resume" if resume else "--replace"]
    # Process puts the directory of this Python into PATH: the files that the command names are a part of the rules.
    # It is python3 if that is this Python, because the words of the command are a part of the rules, too.
    python = Path(sys.executable).with_name("python3")
    if not python.exists() or not python.samefile(sys.executable):
        python = Path(sys.executable)
    command = f"{python.name} -m treereduce {shlex.quote(_file(rules, data))} {rules.__name__}"
    with Process(find_driver(driver), "solve", program.name, *words, rules=command) as process:
        process.stdout.read()
        process.check()
    return Table(data, driver, command)


def _file(rules: Callable[..., Any], data: PathLike) -> str:
    """Return the file that defines a class. A class of a notebook is written to one beside the data directory."""
    if getattr(sys.modules["__main__"], "__package__", None) == __package__:  # this is the program of a class
        raise RulesError("call solve only if __name__ == '__main__'")
    module = sys.modules[rules.__module__]
    file: Optional[str] = getattr(module, "__file__", None)
    if file and getattr(module, rules.__name__, None) is rules:
        return os.path.abspath(file)
    code = next((f.__code__ for f in vars(rules).values() if isinstance(f, FunctionType)), None)
    lines = linecache.getlines(code.co_filename) if code and not file else []  # IPython puts the cells there
    if not lines:
        raise RulesError(f"{rules.__name__}: define the class at the top level of a file, or in a cell of a notebook")
    path = Path(os.fspath(data) + ".rules.py").absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_definitions("".join(lines), vars(module)), encoding="utf-8")
    return str(path)


def _definitions(cell: str, names: Dict[str, Any]) -> str:
    """Return what a cell defines, after imports of the names that it uses and that other cells have imported."""
    nodes = ast.parse(cell).body
    kinds = ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef
    used = _names([node for node in nodes if isinstance(node, kinds)], "LOAD")
    nodes = [node for node in nodes if isinstance(node, kinds) or used & _names([node], "STORE_NAME")]
    lines = [ast.unparse(node) for node in nodes]
    for name in sorted(_names(nodes, "LOAD") - _names(nodes, "STORE_NAME")):
        value = names.get(name)
        module, origin = getattr(value, "__module__", "__main__"), getattr(value, "__name__", name)
        if isinstance(value, ModuleType):
            lines.insert(0, f"import {origin} as {name}")
        elif module != "__main__" and getattr(sys.modules.get(module), origin, None) is value:
            lines.insert(0, f"from {module} import {origin} as {name}")
        elif name in names and not name.startswith("__"):
            raise RulesError(f"{name} is defined in another cell: define it in the cell of the class")
    return "\n".join([*lines, ""])


def _names(nodes: List[ast.stmt], operation: str) -> Set[str]:
    """Return the global names of statements that instructions of the interpreter load or store."""
    codes, found = [compile(ast.Module(nodes, []), "cell", "exec")], set()
    while codes:
        code = codes.pop()
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType) and operation == "LOAD"]
        for instruction in dis.get_instructions(code):
            if instruction.opname.startswith(operation) and instruction.opname.endswith(("_NAME", "_GLOBAL")):
                found.add(instruction.argval)
    return found
