"""Finds the ops of Paddle's initializers. A new model runs such an op for each parameter."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import FRAME_KINDS
from paddle_lab.trace.trees import nearest_marked

_PADDLE = FRAME_KINDS.index("paddle")
_FILE = re.compile(r"[\\/]nn[\\/]initializer[\\/]")


def initial_ops(record: Record) -> npt.NDArray[np.bool_]:
    """Return which ops have a frame of Paddle's folder ``nn/initializer`` in their stacks.

    Returns
    -------
    numpy.ndarray
        bool, shape ``[ops]``.
    """
    frames, caller = record.frames, record.stacks["caller"]
    is_file = np.array([_FILE.search(text) is not None for text in record.strings], bool)
    is_initializer = is_file[frames["file"]] & (frames["kind"] == _PADDLE)
    marked = np.append(is_initializer, False)[record.stacks["frame"]]
    is_inside = nearest_marked(caller, marked) >= 0
    is_initial: npt.NDArray[np.bool_] = np.append(is_inside, False)[record.ops["stack"]]
    return is_initial
