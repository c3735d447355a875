"""Classes of rules that a notebook defines: what their program has, and whether that is what the notebook has."""

import ast
import dis
import functools
import hashlib
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Set, Tuple

import treereduce
from treereduce.rules import RulesError


def definitions(cell: str, names: Mapping[str, Any], modules: Mapping[str, ModuleType]) -> str:
    """Return the statements of a cell before the first call of solve, after imports of the names that they use and that
    other cells have imported."""
    nodes: List[ast.stmt] = []
    for node in ast.parse(cell).body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) and any(_solves(part, names) for part in ast.walk(node)):
            break
        if "get_ipython" in _names([node], "LOAD"):
            raise RulesError(f"line {node.lineno} of the cell of the class: move this command of the notebook to another cell")
        nodes.append(node)
    lines = [ast.unparse(node) for node in nodes]
    for name in sorted(_names(nodes, "LOAD") - _names(nodes, "STORE_NAME")):
        value = names.get(name)
        module, origin = getattr(value, "__module__", "__main__"), getattr(value, "__name__", name)
        if isinstance(value, ModuleType):
            lines.insert(0, f"import {origin} as {name}")
        elif module != "__main__" and getattr(modules.get(module), origin, None) is value:
            lines.insert(0, f"from {module} import {origin} as {name}")
        elif name in names and not name.startswith("__"):
            raise RulesError(f"{name} is defined in another cell: define it in the cell of the class")
    return "\n".join([*lines, ""])


def _solves(node: ast.AST, names: Mapping[str, Any]) -> bool:
    """Report whether a node is a call of solve."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.attr == "solve" and names.get(function.value.id) is treereduce
    return isinstance(function, ast.Name) and names.get(function.id) is treereduce.solve


def _names(nodes: List[ast.stmt], operation: str) -> Set[str]:
    """Return the global names of statements that instructions of the interpreter load or store."""
    top = compile(ast.Module(nodes, []), "cell", "exec")
    found = _operands(top, operation)
    for code in _within(top) if operation == "LOAD" else ():
        found |= _operands(code, operation) - _operands(code, "STORE_NAME")  # what the body of a class defines
    return found


def _within(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of functions and classes in a code."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _within(constant)


def _operands(code: CodeType, operation: str) -> Set[str]:
    return {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname.startswith(operation) and instruction.opname.endswith(("_NAME", "_GLOBAL"))
    }


def fingerprints(name: str, names: Mapping[str, Any]) -> Dict[str, str]:
    """Return hashes of a class and of all global names that it uses."""
    found: Dict[str, str] = {}
    missing = [name]
    while missing:
        name = missing.pop()
        if name in names and name not in found:
            form = _Form(names)
            form.add(names[name])
            found[name] = form.hash.hexdigest()[:16]
            missing += form.uses
    return found


def check(name: str, names: Mapping[str, Any], expected: Mapping[str, str]) -> None:
    """Raise a RulesError if a class is not what it is in the notebook."""
    found = fingerprints(name, names)
    for other in sorted({*found, *expected}):
        if found.get(other) != expected.get(other):
            raise RulesError(f"{other} is not what the cell of the class makes it: change it only in that cell, before the call of solve")


class _Form:
    """A hash of a value, which is the same in another process that runs the same statements."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.hash = hashlib.sha256()
        self.uses: Set[str] = set()  # global names
        self._names = names
        self._within: List[int] = []  # the values of which this is a part

    def add(self, value: Any) -> None:
        """Add a value."""
        if id(value) in self._within:
            return self._text("again")
        self._within.append(id(value))
        self._text(type(value).__name__)
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes, range)):
            self._text(repr(value))
        elif isinstance(value, (list, tuple)):
            self._all(value)
        elif isinstance(value, dict):
            self._all([part for item in value.items() for part in item])
        elif isinstance(value, (set, frozenset)):
            self._all(sorted(map(self._alone, value)))
        elif isinstance(value, ModuleType):
            self._text(value.__name__)
        elif isinstance(value, CodeType):
            self._all([*_instructions(value), value.co_varnames, value.co_consts])
            self.uses |= _operands(value, "LOAD_GLOBAL")
        elif isinstance(value, (type, FunctionType)) and value.__module__ != self._names["__name__"]:
            self._text(f"{value.__module__}.{value.__qualname__}")
        elif isinstance(value, FunctionType):
            self._all([value.__code__, value.__defaults__, value.__kwdefaults__, vars(value)])
            self._all([cell.cell_contents for cell in value.__closure__ or ()])
        elif isinstance(value, type):
            self._all([*value.__bases__, *(part for item in sorted(vars(value).items()) if _own(*item) for part in item)])
        else:
            self._all(_parts(value))
        self._within.pop()

    def _alone(self, value: Any) -> str:
        """Return the hash of one value: a set has another order in another process."""
        whole, self.hash = self.hash, hashlib.sha256()
        self.add(value)
        alone, self.hash = self.hash.hexdigest(), whole
        return alone

    def _text(self, text: str) -> None:
        self.hash.update(f"{len(text)} {text}\n".encode("utf-8", "surrogatepass"))

    def _all(self, values: Any) -> None:
        self._text(str(len(values)))
        for value in values:
            self.add(value)


def _instructions(code: CodeType) -> Iterator[str]:
    """Yield the instructions of a code, but not how it calls methods: that depends on the imports of the same cell."""
    for instruction in dis.get_instructions(code):
        name = {"LOAD_METHOD": "LOAD_ATTR", "CALL_METHOD": "CALL_FUNCTION"}.get(instruction.opname, instruction.opname)
        if name not in ("PUSH_NULL", "PRECALL", "CACHE", "NOP", "EXTENDED_ARG"):
            jumps = instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs
            yield f"{name} {instruction.argval}" if isinstance(instruction.argval, (str, int)) and not jumps else name


def _own(name: str, value: object) -> bool:
    """Report whether an attribute of a class is from its definition, not from the interpreter."""
    return name == "__doc__" or not name.startswith("__") or isinstance(value, FunctionType)


def _parts(value: Any) -> Tuple[Any, ...]:
    """Return what another object consists of, as pickle sees it."""
    if isinstance(value, (staticmethod, classmethod, property, functools.cached_property)) or hasattr(value, "__wrapped__"):
        return tuple(getattr(value, name, None) for name in ("__func__", "fget", "fset", "func", "__wrapped__"))
    try:
        reduced = value.__reduce_ex__(2)
    except Exception:
        return ()  # such as a generator
    if isinstance(reduced, str):
        return (reduced,)
    return tuple(list(part) if isinstance(part, Iterator) else part for part in reduced)
