"""Runs the program driver."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import IO, Deque, Optional, Type, Union

PathLike = Union[str, "os.PathLike[str]"]

#: The directory of the programs that a wheel contains.
PROGRAMS = Path(__file__).absolute().parent / "bin"

#: The number of lines of stderr that a process keeps.
KEPT_LINES = 20


class DriverError(Exception):
    """An error of driver. Its text is the message of driver."""


class PositionError(DriverError, ValueError):
    """A text that is not a position, or a position that play cannot reach."""


def find_driver(driver: Optional[PathLike] = None) -> str:
    """Return the path of driver.

    It is the argument, or the environment variable TREEREDUCE_DRIVER. If neither is given, it is the
    driver that a wheel has installed with this file, driver in PATH, or bin/driver of the checkout
    that contains this file.
    """
    given = driver or os.environ.get("TREEREDUCE_DRIVER")
    checkout = Path(__file__).absolute().parents[2]
    built = checkout / "bin" / "driver"
    places = [os.fspath(given)] if given else [str(PROGRAMS / "driver"), "driver", str(built)]
    path = next(filter(None, map(shutil.which, places)), None)
    if path is None and given:
        raise DriverError(f"no program {os.fspath(given)}")
    if path is None and (checkout / "go.mod").exists():
        raise DriverError(f"no driver in PATH and no {built}: build it with make, or set TREEREDUCE_DRIVER")
    if path is None:
        raise DriverError("no driver in PATH: make builds it, and the wheel of a release has it; TREEREDUCE_DRIVER is its path")
    return path


def main() -> None:
    """Become the program of the wheel that has the name of this command."""
    os.execv(PROGRAMS / Path(sys.argv[0]).name, sys.argv)


class Process:
    """A command of driver. As a context manager it ends the process."""

    def __init__(self, driver: str, *words: str, rules: Optional[str] = None) -> None:
        """Start the command. rules is the command of a rules program, see docs/rules.md."""
        self._owner = os.getpid()
        environment = dict(os.environ)
        if rules:  # a program in Python is run by this Python, and can import this package
            environment["TREEREDUCE_RULES"] = rules
            for name, first in ("PATH", Path(sys.executable).parent), ("PYTHONPATH", Path(__file__).absolute().parents[1]):
                environment[name] = os.pathsep.join(filter(None, [str(first), os.environ.get(name)]))
        # A session of its own: Ctrl-C interrupts the caller, which then ends the process.
        self._popen = subprocess.Popen(
            [driver, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        assert self._popen.stdin and self._popen.stdout and self._popen.stderr
        self.stdin: IO[bytes] = self._popen.stdin
        self.stdout: IO[bytes] = self._popen.stdout
        self._stderr: IO[bytes] = self._popen.stderr
        self._messages: Deque[bytes] = deque(maxlen=KEPT_LINES)
        self._reader = threading.Thread(target=self._messages.extend, args=(self._stderr,), daemon=True)
        self._reader.start()

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def owned(self) -> bool:
        """Report whether this process has started it, and not one that it was forked from."""
        return self._owner == os.getpid()

    def close(self) -> None:
        """Kill the process if it is running. A child of a fork leaves it to its parent."""
        if not self.owned():
            return
        self._popen.kill()
        self._end()

    def check(self) -> None:
        """Wait for the end of the process. Raise a DriverError if it failed."""
        if self._end() != 0:
            raise self.failure()

    def failure(self) -> DriverError:
        """Wait for the end of the process. Return the error that its messages describe."""
        status = self._end()
        lines = []
        for message in self._messages:
            _, _, line = message.decode("utf-8", "replace").rstrip("\n").partition(": ")
            if not line.startswith(("see driver ", "stdin:")):  # a hint, or repeated in an answer
                lines.append(line)
        return DriverError("\n".join(lines) or f"driver ended with status {status}")

    def _end(self) -> int:
        """Wait for the end of the process, close its pipes, and return its status."""
        try:
            self.stdin.close()
        except BrokenPipeError:
            pass  # what was not read is lost
        status = self._popen.wait()
        self._reader.join()
        self.stdout.close()
        self._stderr.close()
        return status
