"""What could not be allocated: read from the text of Paddle's out-of-memory error."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from paddle_lab.analysis.memory.layer_names import LayerNames, layers_of_scopes
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.op import Op
from paddle_lab.analysis.op_table import OpTable
from paddle_lab.trace.record import Record

_SIGNS = re.compile(r"ResourceExhausted|[Oo]ut of memory error on|Fail to alloc memory")
_SIZE = r"(?P<size>\d{1,9}(?:\.\d{1,9})?)(?P<unit>[kMGTP]?B)"
"""As ``HumanReadableSize`` in Paddle's ``printf.h`` writes it."""
_REQUESTED = re.compile(rf"Cannot allocate {_SIZE}")
_REQUESTED_BYTES = re.compile(r"Fail to alloc memory of (?P<size>\d{1,20}) size")
_AVAILABLE = re.compile(rf"available (?:memory is only )?{_SIZE}")
_BEYOND = 16
"""Who asks for so many times what was allocated, on a machine of unknown size, asks too much."""
_UNITS: dict[str, int] = {
    unit: 1024**power for power, unit in enumerate(("B", "kB", "MB", "GB", "TB", "PB"))
}


@dataclass(frozen=True)
class FailedRequest:
    """The allocation that failed."""

    op: Op | None
    """The op that raised the error; None where it was raised inside backward."""
    requested_bytes: int | None
    """What Paddle could not allocate, None where the error does not say."""
    available_bytes: int | None
    """What the device still had, None where the error does not say."""
    layer: str = ""
    """The layer that the op was called in, with its model's name where that says more."""

    def headline(self, allocated_bytes: int) -> str:
        """Return who asked for how much, and what was allocated then, in one line."""
        asked = "" if self.requested_bytes is None else f" {size_text(self.requested_bytes)}"
        who = ""
        if self.op is not None:
            layer = f" in {self.layer}" if self.layer else ""
            line = f" at {self.op.where}" if self.op.where else ""
            who = f": {self.op.name}{layer}{line} asked for{asked or ' more'}"
        elif asked:
            who = f": {asked.strip()} asked for"
        left = "" if self.available_bytes is None else f", {size_text(self.available_bytes)} free"
        return f"Out of memory{who}, {size_text(allocated_bytes)} allocated{left}"

    def is_beyond(self, allocated_bytes: int) -> bool:
        """Tell whether it was for more than would be there if nothing else were allocated."""
        asked = self.requested_bytes or 0
        if self.available_bytes is None:
            return asked > _BEYOND * allocated_bytes
        return asked > allocated_bytes + self.available_bytes

    def advice(self, allocated_bytes: int) -> str:
        """Return a sentence where one request was for more than all there was, else ``""``."""
        if self.requested_bytes is None or self.requested_bytes < allocated_bytes:
            return ""
        op = self.op
        who = f"{op.name} at {op.where}" if op and op.where else op.name if op else "One op"
        shapes = [str(list(tensor.shape)) for tensor in op.inputs[:4]] if op else []
        inputs = f" Its inputs are {', '.join(shapes)}." if shapes else ""
        return (
            f"{who} asked for {size_text(self.requested_bytes)} at once, more than all that was "
            "allocated: check the shapes it is given, a broadcast or a missing reduction may have "
            f"blown them up.{inputs}"
        )


def is_out_of_memory(text: str) -> bool:
    """Return whether the text of an exception is Paddle's out-of-memory error."""
    return bool(_SIGNS.search(text))


def failed_request(ops: OpTable, text: str) -> FailedRequest:
    """Return what the out-of-memory error that ended a trace was about.

    Parameters
    ----------
    ops
        The trace's ops.
    text
        The error's text.
    """
    table = ops.record.ops
    raised = np.flatnonzero(table["raised"])
    # A PyLayer's own op is raised through too; the innermost one starts last.
    op = ops[int(raised[np.argmax(table["start_ns"][raised])])] if len(raised) else None
    layer = "" if op is None else _layer(ops.record, op)
    return FailedRequest(op, requested_bytes(text), _size(_AVAILABLE, text), layer)


def _layer(record: Record, op: Op) -> str:
    scope = int(record.ops["scope"][op.key])
    layer = -1 if scope < 0 else int(layers_of_scopes(record)[scope])
    return "" if layer < 0 else LayerNames(record).names[layer]


def requested_bytes(text: str) -> int | None:
    """Return what Paddle could not allocate, from its error's text; None if it does not say."""
    exact = _REQUESTED_BYTES.search(text)
    return int(exact["size"]) if exact else _size(_REQUESTED, text)


def _size(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    if found is None:
        return None
    return round(float(found["size"]) * _UNITS[found["unit"]])
