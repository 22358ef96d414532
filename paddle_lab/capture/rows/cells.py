"""The rows that hooks write while ops run, and the cells of each row.

A row is a sequence of 64-bit integers on a :class:`Tape`. Python and C write
the same rows: ``make generate`` writes these definitions into ``native/constants.h``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

NO_KEY: Final = -1
"""The value of a cell for no scope, no producer or no value."""


class OpCell(IntEnum):
    """Cells of an op's row. Cells for its inputs and its outputs follow.

    An input has two cells: argument position and tensor. An output has one cell: the tensor.
    """

    KEY = 0
    INPUT_CELLS = 1  # how many cells the inputs have
    OUTPUTS = 2  # how many outputs there are
    NAME = 3  # a key of OP_NAMES
    SCOPE = 4
    STACK = 5
    THREAD = 6
    START = 7
    DURATION = 8
    PHASE = 9
    ATTRIBUTES = 10
    IS_PYLAYER = 11
    RAISED = 12
    OWN = 13  # host time of the trace's own work in this thread before the op began, in ns


class TensorCell(IntEnum):
    """Cells of a tensor's row. Each value of a tensor has a row of its own."""

    KEY = 0
    SHAPE = 1  # keys in the pool's shapes, dtypes and places
    DTYPE = 2
    PLACE = 3
    STOP_GRADIENT = 4
    VERSION = 5
    KIND = 6
    PRODUCER = 7
    PREVIOUS = 8
    DETACHED_FROM = 9
    NAME = 10  # a key in the pool's names
    IDENTITY = 11  # id() of the object
    GRAD_NODE = 12  # address of the tensor's grad node, or 0


class ScopeCell(IntEnum):
    """Cells of a scope's row."""

    KEY = 0
    KIND = 1
    NAME = 2  # a key in the recorder's scope names
    PARENT = 3
    LAYER = 4
    BACKWARD_CALL = 5
    THREAD = 6


class TurnCell(IntEnum):
    """Cells of a loop iteration's row."""

    SCOPE = 0
    LOOP = 1
    NUMBER = 2
    VALUE = 3  # a position in the recorder's values of iterations


class NodeCell(IntEnum):
    """Cells of a grad node's row."""

    KEY = 0
    NAME = 1  # a key of OP_NAMES
    ADDRESS = 2
    OP = 3


class EdgeCell(IntEnum):
    """Cells of the row of an edge between grad nodes."""

    KEY = 0
    SOURCE = 1
    TARGET = 2
    SLOT = 3
    TENSOR = 4  # the tensor whose gradient the edge carries


class RootCell(IntEnum):
    """Cells of a row for a backward call and a grad node that is a root or target of it."""

    BACKWARD_CALL = 0
    GRAD_NODE = 1


OP_CELLS: Final = len(OpCell)
TENSOR_CELLS: Final = len(TensorCell)
SCOPE_CELLS: Final = len(ScopeCell)
TURN_CELLS: Final = len(TurnCell)
NODE_CELLS: Final = len(NodeCell)
EDGE_CELLS: Final = len(EdgeCell)
ROOT_CELLS: Final = len(RootCell)

VERSION_BITS: Final = 24
"""A tensor's row and its in-place version share one number, in which the version has these bits."""
LARGEST_VERSION: Final = (1 << VERSION_BITS) - 1
NO_VERSION: Final = LARGEST_VERSION
"""The version of sparse tensors. Paddle does not count it, and reading it causes a warning."""
