"""The innermost layer or region of each op and of each call."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS
from paddle_lab.trace.trees import Keys, nearest_marked


def innermost_scopes(record: Record, kind: str) -> Keys:
    """Return each op's innermost scope of one kind, int32, shape ``[ops]``; -1 for none."""
    return np.take(_of_scopes(record, kind), record.ops["scope"])


def layers_of_scopes(record: Record) -> npt.NDArray[Any]:
    """Return the innermost layer of each scope, -1 outside layers. The last entry is always -1."""
    return np.append(record.scopes["layer"], -1)[_of_scopes(record, "layer")]


def _of_scopes(record: Record, kind: str) -> Keys:
    scopes = record.scopes
    nearest = nearest_marked(scopes["parent"], scopes["kind"] == SCOPE_KINDS.index(kind))
    return np.append(nearest, np.int32(-1))
