"""A player of GAME. Fill in choose, save this file as engine.py, and let it play:

    MATCH 'program:python3 engine.py' random
"""

from treereduce.engine import Engine


class Player(Engine):
    def choose(self, moves):
        """Return one of the legal moves, such as EXAMPLE.

        self.side is "first" or "second", the side to play; self.played are the moves of both
        sides so far, the first side's first; self.parameters are PARAMETERS;
        self.seconds_left() is the time for this move. print writes to stderr, which the option
        --logs DIR of a match keeps in a file.
        """
        return moves[len(moves) // 2]


if __name__ == "__main__":
    Player().run()
