"""Parameters: how many an op, a layer and the whole record use, and their bytes.

An op counts each parameter that it reads. A layer counts each parameter that its ops read, once. If
two ops or two layers share a parameter, both count it. So the sum over ops is not the size of the
model. A parameter that an optimizer has updated is still the same parameter. A parameter that no op
read is not in the record.

For Paddle, the running statistics of a batch normalisation are parameters, and ``paddle.summary``
counts them. They are not counted here, because they are not trained, and published figures do not
contain them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.tables.tensors import parse_shape
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ROLES, TENSOR_KINDS
from paddle_lab.trace.trees import outermost

_Keys = npt.NDArray[np.int64]

_FILLS = ("full_", "uniform_inplace_", "gaussian_inplace_", "assign_value_")
"""Ops that only write to their argument, as initializers do."""
_NORMS = ("batch_norm", "batch_norm_", "sync_batch_norm_")
_STATISTICS_SLOTS = (1, 2)
"""The argument positions of the running mean and variance."""


class Parameters(NamedTuple):
    """The parameters that ops read, one entry for each pair of op and parameter; ``[reads]``."""

    op: _Keys
    tensor: _Keys
    """The row of the parameter's first value in ``tensors``."""
    elements: _Keys
    bytes: _Keys

    def among(self, ops: npt.NDArray[Any]) -> tuple[int, int]:
        """Return how many different parameters some ops read, and their bytes."""
        reads = np.flatnonzero(np.isin(self.op, ops))
        once = reads[np.unique(self.tensor[reads], return_index=True)[1]]
        return int(self.elements[once].sum()), int(self.bytes[once].sum())


def parameters(record: Record) -> Parameters:
    """Return the parameters that each op reads."""
    uses, tensors = record.uses, record.tensors
    is_read = (uses["role"] == ROLES.index("input")) & (uses["tensor"] >= 0)
    is_parameter = tensors["kind"] == TENSOR_KINDS.index("parameter")
    fills = [code for code in np.unique(record.ops["name"]) if record.text(code) in _FILLS]
    is_read &= ~np.isin(record.ops["name"], fills)[uses["op"]]
    first = _first_values(record)
    statistics = _statistics(record, is_read, first)
    is_parameter &= ~statistics[first]
    reads = np.flatnonzero(is_read)
    reads = reads[is_parameter[uses["tensor"][reads]]]
    op, tensor = uses["op"][reads].astype(np.int64), first[uses["tensor"][reads]].astype(np.int64)
    pairs = np.unique(op * len(tensors) + tensor) if len(reads) else np.zeros(0, np.int64)
    op, tensor = np.divmod(pairs, max(1, len(tensors)))
    return Parameters(op, tensor, _elements(record, tensor), tensors["bytes"][tensor])


def _first_values(record: Record) -> _Keys:
    """Return the first value of each parameter, which is found by the parameter's unique name."""
    previous = record.tensors["previous"]
    first = outermost(previous).astype(np.int64)
    rows = np.flatnonzero(record.tensors["kind"] == TENSOR_KINDS.index("parameter"))
    codes, earliest, which = np.unique(
        record.tensors["name"][rows], return_index=True, return_inverse=True
    )
    has_name = np.array([bool(record.text(code)) for code in codes.tolist()], bool)[which]
    first[rows[has_name]] = first[rows[earliest[which]]][has_name]
    return first


def _statistics(
    record: Record, is_read: npt.NDArray[np.bool_], first: _Keys
) -> npt.NDArray[np.bool_]:
    names = [code for code in np.unique(record.ops["name"]).tolist() if record.text(code) in _NORMS]
    found = np.zeros(len(record.tensors), bool)
    uses = record.uses
    if names:
        is_norm = np.isin(record.ops["name"], names)
        reads = is_read & np.isin(uses["slot"], _STATISTICS_SLOTS)
        reads &= is_norm[uses["op"]]
        found[first[uses["tensor"][reads]]] = True
    return found


def _elements(record: Record, tensors: _Keys) -> _Keys:
    codes, which = np.unique(record.tensors["shape"][tensors], return_inverse=True)
    sizes = [int(np.prod(parse_shape(record.text(code)), dtype=np.int64)) for code in codes]
    return np.array(sizes, np.int64)[which]
