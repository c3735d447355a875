"""Solved games of treereduce: positions, values and moves from the tables that driver writes."""

from treereduce.driver import DriverError, PositionError
from treereduce.solving import solve
from treereduce.table import Move, Position, Table

__all__ = ["DriverError", "Move", "Position", "PositionError", "Table", "solve"]
