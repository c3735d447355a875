"""Games whose rules are a Python class. main turns a class into a rules program, see docs/rules.md.

A position is an integer. docs/python.md has an example, and lists what a class may define.
"""

import functools
import hashlib
import inspect
import operator
import os
import re
import site
import sys
import sysconfig
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Dict, FrozenSet, Iterable, Iterator, List, Mapping, Optional, SupportsIndex, Tuple, TypeVar, Union

from treereduce.driver import PositionError
from treereduce.engine import located

_T = TypeVar("_T")
_MOST_MOVES = 65535  # of a position


class RulesError(Exception):
    """An error in a class of rules. Its text names the class, the method and the position."""


class _Wrong(ValueError):
    """A value that a class must not return. The text is a part of that of a RulesError."""


def main(rules: Callable[..., Any]) -> None:
    """Run the rules program of a class. What the class prints goes to stderr."""
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    try:
        program = Program(rules, dict(word.partition("=")[::2] for word in sys.argv[1:]))
        out.write(program.header(_modules()).encode())
        out.flush()
        for lines in _questions():
            out.write("\n".join([*program.answers(lines), ""]).encode("utf-8", "surrogateescape"))
            out.flush()
    except RulesError as error:
        if (cause := error.__cause__) and (frames := _frames(cause)):
            traceback.print_exception(type(cause), cause, frames)
        sys.exit(str(error))
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(1)


class Program:
    """The header and the answers of a class of rules."""

    def __init__(self, rules: Callable[..., Any], values: Mapping[str, Union[str, SupportsIndex]]) -> None:
        """Construct the class. values replace the defaults of its parameters."""
        self._class = rules.__name__
        self._file = getattr(getattr(getattr(rules, "moves", None), "__code__", None), "co_filename", "")
        known = inspect.signature(rules).parameters
        if not known.keys() >= values.keys():
            raise RulesError(f"{self._class}: expected parameters {' '.join(known)}, found {' '.join(values)}")
        given = {name: values.get(name, parameter.default) for name, parameter in known.items()}
        try:
            self.parameters = {name: _integer(value) for name, value in given.items()}
            self._game = rules(**self.parameters)
        except Exception as error:
            raise self._failure("__init__", error, *(f"{name}={value}" for name, value in given.items())) from error
        for name in ["start", "primitive", "moves"] + ["tier", "tiers"] * any(map(self._has, ("tier", "tiers", "loops"))):
            if not self._has(name):
                raise RulesError(f"{self._class}.{name} is missing")
        self.name = self._value("name", _string, re.sub("[^a-z0-9]", "", self._class.lower()))
        self._ends = ("solved", "stuck") if self._value("puzzle", bool, False) else ("win", "lose", "tie")
        self._last = self._value("tiers", _integer, 0)
        self._loops: FrozenSet[int] = self._value("loops", self._tiers, frozenset())
        positions = self._value("positions", _integer, 0)
        most = 64 - self._last.bit_length()
        bits = max(1, (positions - 1).bit_length()) if positions else most
        self._bits = self._value("bits", _integer, bits)  # without those of the tier
        self._below = positions or 1 << self._bits
        self._position = self._answerer()

    def header(self, modules: Iterable[str] = ()) -> str:
        """Return the header, with the empty line at its end. modules are names with hashes."""
        text = self._value("rules", _string, inspect.cleandoc(type(self._game).__doc__ or ""))
        bits = self._bits + self._last.bit_length()
        lines: List[Tuple[str, object]] = [  # with what is false if a line is not wanted
            ("treereduce rules 1", True),
            ("name", self.name),
            ("title", self._value("title", _string, "")),
            *(("parameter", f"{name} {value}") for name, value in self.parameters.items()),
            *(("rules", paragraph) for paragraph in re.split(r"\n\s*\n", text)),
            ("bits", bits),
            ("start", self._value("start", lambda start: str(self._number(_integer(start))), "")),
            ("below", "" if self._last or self._below == 1 << bits else self._below),
            ("players", self._has("player") and self._value("players", ", ".join, "X, O")),
            ("tiers", self._last),
            ("loops", "all" if len(self._loops) > self._last else " ".join(map(str, sorted(self._loops)))),
            ("ties", self._value("ties", _string, "")),
            ("puzzle", self._ends[0] == "solved"),
            ("text", self._has("text")),
            ("picture", self._has("picture")),
            *(("module", module) for module in modules),
        ]
        return "".join(f"{key}\n" if value is True else f"{key} {_line(value)}\n" for key, value in lines if value) + "\n"

    def answers(self, questions: List[str]) -> List[str]:
        """Return the answers to questions, which are lines."""
        return [self._position(int(line)) if line.isdecimal() else self._other(line) for line in questions]

    def _answerer(self) -> Callable[[int], str]:
        """Return the function that answers a position. It is called very often."""
        game, below, bits, last, index = self._game, self._below, self._bits, self._last, operator.index
        primitive, moves, player, tier = game.primitive, game.moves, getattr(game, "player", None), last and game.tier
        loops, most = self._loops, _MOST_MOVES
        largest, mask, turns = (last << bits) + below - 1, (1 << bits) - 1, {1: "1 ", 2: "2 "}
        unnamed, named = functools.lru_cache(4096)(_unnamed), functools.lru_cache(4096)(_named)

        def answer(number: int) -> str:
            p, method, who = number & mask, "primitive", ""
            if p >= below or number > largest:
                return f"error {number} is not a position: the largest is {largest}"
            try:
                end = primitive(p)
                if player is not None:
                    method = "player"
                    who = turns.get(player(p)) or _not_one_of(turns, player(p))
                if end is not None:
                    method = "primitive"
                    return who + (end if end in self._ends else _not_one_of((None, *self._ends), end))
                method = "moves"
                found = moves(p)
                if not isinstance(found, (list, dict)):
                    found = list(found)
                count = len(found)
                if not 0 < count <= most:
                    raise _Wrong(f"expected 1 to {most} moves where primitive returns None, found {count}")
                if isinstance(found, list) and isinstance(found[0], (tuple, list)):
                    found = dict(found)
                if isinstance(found, dict):
                    form, to, different = named(tuple(found)), tuple(map(index, found.values())), len(found)
                else:
                    form, to, different = unnamed(count), tuple(map(index, found)), len(set(found))
                if different < count:
                    raise _Wrong(f"found {count} moves, but {count - different} of them twice")
                for q in to:
                    if not 0 <= q < below:
                        raise _Wrong(f"expected positions from 0 to {below - 1}, found {q}")
                if tier:
                    here, method, numbers = number >> bits, "tier", []
                    least = here if here in loops else here + 1
                    for p in to:
                        after = index(tier(p))
                        if not least <= after <= last:
                            if self._number(number & mask) != number:
                                return f"error {number} is not a position: its highest bits are not its tier"
                            raise _Wrong(f"expected a tier from {least} to {last} for a move from {number & mask}, found {after}")
                        numbers.append(after << bits | p)
                    to = tuple(numbers)
                return who + form % to
            except PositionError as error:
                return f"error {_line(error)}"
            except Exception as error:
                raise self._failure(method, error, p) from error

        return answer

    def _tiers(self, value: Any) -> FrozenSet[int]:
        """Return the tiers that an attribute names: "all", or some of them."""
        every = range(self._last + 1)
        tiers = frozenset(every if value == "all" else map(_integer, value))
        if not tiers <= frozenset(every):
            raise _Wrong(f"expected 'all' or tiers from 0 to {self._last}, found {value!r:.60}")
        return tiers

    def _number(self, p: int) -> int:
        """Return the number of a position in the protocol: its tier is in the highest bits."""
        if not 0 <= p < self._below:
            raise _Wrong(f"expected a position from 0 to {self._below - 1}, found {p}")
        tier = self._call("tier", _integer, p) if self._last else 0
        if not 0 <= tier <= self._last:
            raise RulesError(f"{self._class}.tier({p}): expected 0 to {self._last}, found {tier}")
        return tier << self._bits | p

    def _other(self, question: str) -> str:
        """Return the answer to a question that is not a position."""
        word, _, rest = question.partition(" ")
        if word == "parse" and self._has("parse"):
            try:
                return str(self._number(_integer(self._game.parse(rest))))
            except Exception as error:
                return "error " + _line(error if isinstance(error, (ValueError, RulesError)) else repr(error))
        if word in ("text", "picture") and self._has(word) and rest.isdecimal():
            lines = self._call(word, _string, int(rest) & (1 << self._bits) - 1).replace("/", "\n").splitlines()
            if word == "picture" and not any(" " in line for line in lines):
                lines = [" ".join(line) for line in lines]
            return "/".join(lines)
        return question and f"error {self._class} does not answer {question!r:.60}"

    def _has(self, name: str) -> bool:
        return hasattr(type(self._game), name) or name in getattr(self._game, "__dict__", {})

    def _value(self, name: str, check: Callable[[Any], _T], default: _T) -> _T:
        """Return an attribute of the class, or what a method of this name returns."""
        return self._call(name, check) if self._has(name) else default

    def _call(self, name: str, check: Callable[[Any], _T], *p: int) -> _T:
        """Return what a method returns for a position, or an attribute."""
        try:
            value = getattr(self._game, name)
            return check(value(*p) if callable(value) else value)
        except Exception as error:
            raise self._failure(name, error, *p) from error

    def _failure(self, method: str, error: Exception, *p: object) -> RulesError:
        """Return the error of a call with a position."""
        if isinstance(error, RulesError):
            return error
        text = str(error) if isinstance(error, _Wrong) else located(error, self._file)
        if method == "moves" and not isinstance(error, _Wrong) and not _frames(error):
            text = f"expected integers, pairs (name, integer), or a dict of these: {error}"
        return RulesError(f"{self._class}.{method}({', '.join(map(str, p))}): {text}".replace("(): ", ": "))


def _modules() -> Iterator[str]:
    """Yield the modules of this process, with hashes of their sources, that are not installed with Python or by pip."""
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [*site.getsitepackages(), site.getusersitepackages(), os.path.dirname(__file__)]
    paths.append(os.path.join(sys.base_prefix, "DLLs"))  # of the standard library on Windows
    installed = tuple(os.path.join(path, "") for path in {*paths, *map(os.path.realpath, paths)})
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and not os.path.abspath(file).startswith(installed):
            read = getattr(getattr(module, "__loader__", None), "get_data", None)  # also from a zip file
            try:
                source = read(file) if read else Path(file).read_bytes()
            except OSError as error:
                raise RulesError(f"module {name}: {error}") from None
            yield f"{''.join(name.split())} {hashlib.sha256(source).hexdigest()[:16]}"


def _integer(value: Any) -> int:
    try:
        return int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError):
        raise _Wrong(f"expected an integer, found {value!r:.60}") from None


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise _Wrong(f"expected a string, found {value!r:.60}")
    return value


def _not_one_of(allowed: Iterable[object], value: object) -> str:
    raise _Wrong(f"expected {', '.join(map(repr, allowed))}, found {value!r:.60}")


def _unnamed(count: int) -> str:
    """Return the answer with so many moves without names, as a format for the operator %."""
    return " ".join(["%d"] * count)


def _named(names: Tuple[Any, ...]) -> str:
    """Return the answer with moves of these names, as a format for the operator %."""
    for name in names:
        if _string(name).split() != [name] or ":" in name:
            raise _Wrong(f"expected names of moves without blanks and colons, found {name!r:.60}")
    return " ".join(name.replace("%", "%%") + ":%d" for name in names)


def _line(text: object) -> str:
    return " ".join(str(text).split())


def _questions() -> Iterator[List[str]]:
    """Yield the lines of stdin, as many at a time as there are."""
    rest, piece = b"", b"\n"
    while piece:
        piece = os.read(sys.stdin.fileno(), 1 << 16)
        text, newline, rest = (rest + piece).rpartition(b"\n")
        if newline:
            yield text.decode("utf-8", "surrogateescape").split("\n")


def _frames(error: BaseException) -> Optional[TracebackType]:
    """Return the traceback of an error from the first frame on that is not in this file."""
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace
