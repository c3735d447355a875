"""assignment2.py of CSE 150 for Python 3: the classes Player, State and Action of the course, and
a program that plays Mancala with a player class of yours. With the class CLASS in FILE:

    play mancala 6 4 1 'program:python3 assignment2.py FILE CLASS' RandomPlayer
    MATCH 'program:python3 assignment2.py FILE CLASS' random

CLASS may be left out; then it is the last player class in FILE.
"""

import builtins
import importlib
import os
import sys
import time

from treereduce.engine import Engine, located

builtins.xrange = range
BOTTOM, TOP = 0, 1


class Player(object):
    row, next, deadline = None, None, None
    name = property(lambda self: type(self).__name__)

    def __str__(self):
        return "%s (%d)" % (self.name, self.row)

    def move(self, state):
        raise NotImplementedError("%s has no move" % self.name)

    def is_time_up(self):
        return self.deadline is not None and time.monotonic() >= self.deadline


class Action(object):
    def __init__(self, row, index):
        self.row, self.index = row, index

    def __eq__(self, other):
        return isinstance(other, Action) and (self.row, self.index) == (other.row, other.index)

    def __hash__(self):
        return hash((self.row, self.index))

    def __repr__(self):
        return "Action(%d, %d)" % (self.row, self.index)

    def __str__(self):
        return "Player %d played at %d" % (self.row, self.index)


class State(object):
    @classmethod
    def initial(cls, M, N, player=None):
        State.M, State.N = M, N
        return cls(None, None, player)

    def __init__(self, board_lst, player_row, player=None):
        if board_lst is None or player_row is None:
            board_lst, player_row = 2 * ([State.N] * State.M + [0]), BOTTOM
        self.board, self.player_row, self.player = board_lst, player_row, player

    opponent_row = property(lambda self: 1 - self.player_row)
    player_goal_idx = property(lambda self: self.goal(self.player_row))
    opponent_goal_idx = property(lambda self: self.goal(self.opponent_row))

    def goal(self, row):
        return State.M + row * (State.M + 1)

    def __eq__(self, other):
        return self.ser() == other.ser()

    def __hash__(self):
        return hash(self.ser())

    def ser(self):
        return (self.player_row,) + tuple(self.board)

    def __str__(self):
        return str(self.board)

    def __repr__(self):
        top = str(self.board[2 * State.M:State.M:-1])
        return "  %s\n%d %s %d\n  %s" % (top, self.board[-1], " " * len(top), self.board[State.M], self.board[:State.M])

    def is_terminal(self):
        return sum(self.board) == self.board[State.M] + self.board[-1]

    @property
    def winner_row(self):
        lead = self.board[State.M] - self.board[-1]
        return BOTTOM if lead > 0 else TOP if lead < 0 else -1

    def utility(self, for_player):
        return 0.0 if self.winner_row == -1 else 1.0 if self.winner_row == for_player.row else -1.0

    def is_win(self):
        return self.is_terminal() and self.winner_row == self.player_row

    def possible_action_range(self):
        return self.player_row * (State.M + 1), self.goal(self.player_row)

    def actions(self):
        return [Action(self.player_row, i) for i in range(*self.possible_action_range()) if self.board[i] > 0]

    def result(self, action):
        next_player = self.player and self.player.next
        board = list(self.board)
        if action:
            index, (low, high) = action.index, self.possible_action_range()
            if not (low <= index < high and board[index] > 0):
                raise ValueError("Illegal action: %r" % action)
            stones, board[index] = board[index], 0
            while stones:
                index = (index + 1) % len(board)
                if index != self.opponent_goal_idx:
                    board[index] += 1
                    stones -= 1
            across = 2 * State.M - index
            if low <= index < high and board[index] == 1 and board[across] > 0:
                board[self.player_goal_idx] += 1 + board[across]
                board[index] = board[across] = 0
        return State(board, self.opponent_row, next_player)


def load(file, name=None):
    """The player class of a file: the one of that name, or the last in it."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    try:
        module = importlib.import_module(os.path.splitext(os.path.basename(file))[0])
    except Exception as error:
        raise SystemExit(located(error, os.path.abspath(file)))
    classes = [c for c in vars(module).values() if isinstance(c, type) and issubclass(c, Player) and c is not Player]
    for c in reversed(classes):
        if name in (None, c.__name__):
            return c
    raise SystemExit("%s: expected a class %s, which has the base class Player of assignment2; found %s"
                     % (file, name or "of a player", ", ".join(c.__name__ for c in classes) or "none"))


class Course(Engine):
    """Plays with a player class of the course; each game has a new player."""

    def __init__(self, player_class):
        self.player_class = player_class

    def _player(self):
        return self.player_class, "move"

    def begin(self):
        if self.game != "mancala":
            raise ValueError("only mancala is played here, found %s" % self.game)
        self.mine, other = self.player_class(), Player()
        self.mine.next, other.next = other, self.mine

    def choose(self, moves):
        self.mine.row, self.mine.next.row = (BOTTOM, TOP) if self.side == "first" else (TOP, BOTTOM)
        self.mine.deadline = self.deadline
        state = State.initial(self.parameters["pits"], self.parameters["stones"])
        for move in self.played:
            state = state.result(None if move == "pass" else Action(state.player_row, int(move)))
        state.player = self.mine
        action = self.mine.move(state)
        return action.index if isinstance(action, Action) else action


if __name__ == "__main__":
    import assignment2  # the module that the player's file imports

    if len(sys.argv) not in (2, 3):
        raise SystemExit("expected a file, and optionally the name of a class in it")
    assignment2.Course(assignment2.load(*sys.argv[1:])).run()
