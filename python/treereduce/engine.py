"""The base class of programs that play. It answers the commands of docs/play/engines.md, so that a
player is one method:

    class Player(Engine):
        def choose(self, moves):
            return moves[0]

    Player().run()
"""

import os
import sys
import time
import traceback
from typing import Any, Callable, Dict, List, Optional, Tuple, Union


class Engine:
    """A player of any game. A subclass defines choose, and may define begin."""

    game: str = ""  # name of the game, such as "connectn"
    parameters: Dict[str, Union[int, str]] = {}  # its parameters, such as {"width": 7}
    side: str = ""  # "first" or "second": the side that choose plays
    played: List[str] = []  # the moves of both sides in this game
    deadline: Optional[float] = None  # time.monotonic() when the time of the move ends; None: no limit

    def choose(self, moves: List[str]) -> str:
        """Return one of the legal moves, or "resign"."""
        raise NotImplementedError("choose is missing")

    def begin(self) -> None:
        """Prepare for a new game, for which game and parameters are set."""

    def seconds_left(self) -> float:
        """Return the time that is left for the move."""
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()

    def run(self) -> None:
        """Answer commands until quit or the end of the input. Other output goes to stderr."""
        out, sys.stdout = sys.stdout, sys.stderr
        for line in sys.stdin:
            words = line.split("#")[0].split()
            number = words.pop(0) if words and words[0].isdigit() else ""
            if not words:
                continue
            try:
                mark, text = "=", self._answer(*words)
            except Exception as error:
                traceback.print_exc()
                mark, text = "?", " ".join(str(error).split())
            print(f"{mark}{number} {text}\n", file=out, flush=True)
            if words[0] == "quit":
                break

    _commands = "protocol_version name version known_command list_commands game clear_board play time_left legal_moves genmove quit"
    _legal: List[str] = []

    def _player(self) -> Tuple[type, str]:
        """Return the class that chooses, and the name of its method."""
        return type(self), "choose"

    def _answer(self, command: str, *args: str) -> str:
        if command == "protocol_version":
            return "2"
        if command == "name":
            return self._player()[0].__name__
        if command == "known_command":
            return str(args[0] in self._commands.split()).lower()
        if command == "list_commands":
            return self._commands.replace(" ", "\n")
        if command == "game":
            pairs = [word.split("=") for word in args[1:]]
            self.game = args[0]
            self.parameters = {name: int(value) if value.isdigit() else value for name, value in pairs}
        if command in ("game", "clear_board"):
            self.played, self.deadline = [], None
            self._call(self.begin)
        elif command == "play":
            self.played.append(args[1])
        elif command == "time_left":
            self.deadline = time.monotonic() + float(args[1])
        elif command == "legal_moves":
            self._legal = list(args[1:])
        elif command == "genmove":
            self.side = args[0]
            return self._genmove()
        elif command not in ("version", "quit"):
            raise ValueError(f"unknown command {command}")
        return ""

    def _genmove(self) -> str:
        legal, self._legal = self._legal, []
        if not legal:
            raise ValueError("expected legal_moves before genmove")
        move = self._call(self.choose, list(legal))
        self.deadline = None
        if str(move) == "resign":
            return "resign"
        if str(move) not in legal:
            player, method = self._player()
            code = getattr(player, method).__code__
            where = f"{player.__name__}.{method}, {os.path.basename(code.co_filename)} line {code.co_firstlineno}"
            raise ValueError(f"illegal move: {where}: expected one of {' '.join(legal)}, it returned {move!r}")
        self.played.append(str(move))
        return str(move)

    def _call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call the player's code. An error names its class and line."""
        player, method = self._player()
        try:
            return function(*args)
        except Exception as error:
            file = getattr(player, method).__code__.co_filename
            raise RuntimeError(f"{player.__name__}, {located(error, file)}") from error


def located(error: BaseException, file: str) -> str:
    """Return an error as a line of text with the last line of the file that has led to it."""
    text = traceback.format_exception_only(type(error), error)[-1].strip()
    if isinstance(error, SyntaxError):
        return f"{os.path.basename(error.filename or file)} line {error.lineno}: {text}"
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f"{os.path.basename(file)} line {lines[-1].lineno}: {text}" if lines else text
