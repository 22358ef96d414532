"""The allocation that failed, parsed from the text of Paddle's out-of-memory error."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from paddle_lab.analysis.graph.scopes import layers_of_scopes
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.tables.ops import Op, OpTable
from paddle_lab.trace.record import Record
from paddle_lab.words import say

_SIGNS = re.compile(r"ResourceExhausted|[Oo]ut of memory error on|Fail to alloc memory")
_SIZE = r"(?P<size>\d{1,9}(?:\.\d{1,9})?)(?P<unit>[kMGTP]?B)"
"""In the format of ``HumanReadableSize`` in Paddle's ``printf.h``."""
_REQUESTED = re.compile(rf"Cannot allocate {_SIZE}")
_REQUESTED_BYTES = re.compile(r"Fail to alloc memory of (?P<size>\d{1,20}) size")
_AVAILABLE = re.compile(rf"available (?:memory is only )?{_SIZE}")
_BEYOND = 16
"""If the device's memory is unknown: a request of this many times the allocated bytes is large."""
_UNITS: dict[str, int] = {
    unit: 1024**power for power, unit in enumerate(("B", "kB", "MB", "GB", "TB", "PB"))
}


@dataclass(frozen=True)
class FailedRequest:
    """The allocation that failed."""

    op: Op | None
    """The op that raised the error; None if it was raised inside backward."""
    requested_bytes: int | None
    """The bytes that Paddle could not allocate, None if the error does not say."""
    available_bytes: int | None
    """The free bytes of the device, None if the error does not say."""
    layer: str = ""
    """The layer that called the op. If the path is ambiguous, the model's name comes first."""

    def headline(self, allocated_bytes: int) -> str:
        """Return one line: the op, the requested bytes, and the bytes allocated at that time."""
        asked = None if self.requested_bytes is None else size_text(self.requested_bytes)
        free = self.available_bytes
        return say(
            "memory.oom.title",
            who=self._who(asked),
            allocated=size_text(allocated_bytes),
            left="" if free is None else say("memory.oom.left", size=size_text(free)),
        )

    def _who(self, asked: str | None) -> str:
        if self.op is None:
            return "" if asked is None else say("memory.oom.size", size=asked)
        op = self.op.name
        if self.layer:
            op = say("memory.oom.op_in", op=op, layer=self.layer)
        if self.op.where:
            op = say("memory.oom.op_at", op=op, line=self.op.where)
        if asked is None:
            return say("memory.oom.op_more", op=op)
        return say("memory.oom.op", op=op, size=asked)

    def is_beyond(self, allocated_bytes: int) -> bool:
        """Tell whether the request is larger than all memory that could be freed."""
        asked = self.requested_bytes or 0
        if self.available_bytes is None:
            return asked > _BEYOND * allocated_bytes
        return asked > allocated_bytes + self.available_bytes

    def advice(self, allocated_bytes: int) -> str:
        """Return a sentence if the request was larger than all allocated memory, else ``""``."""
        if self.requested_bytes is None or self.requested_bytes < allocated_bytes:
            return ""
        op = self.op
        who = op.name if op else say("memory.advice.one_op")
        if op and op.where:
            who = say("memory.advice.op_at", op=op.name, line=op.where)
        sentence = say("memory.advice.beyond", who=who, size=size_text(self.requested_bytes))
        shapes = [str(list(tensor.shape)) for tensor in op.inputs[:4]] if op else []
        if not shapes:
            return sentence
        told = say("lists.between").join(shapes)
        return say("memory.advice.beyond_inputs", advice=sentence, shapes=told)


def is_out_of_memory(text: str) -> bool:
    """Return whether the text of an exception is Paddle's out-of-memory error."""
    return bool(_SIGNS.search(text))


def failed_request(ops: OpTable, text: str) -> FailedRequest:
    """Return the failed request of a trace that ended with an out-of-memory error.

    Parameters
    ----------
    ops
        The trace's ops.
    text
        The error's text.
    """
    table = ops.record.ops
    raised = np.flatnonzero(table["raised"])
    # The error also passes through the op of a PyLayer. The innermost op is the one that began
    # last.
    op = ops[int(raised[np.argmax(table["start_ns"][raised])])] if len(raised) else None
    layer = "" if op is None else _layer(ops.record, op)
    return FailedRequest(op, requested_bytes(text), _size(_AVAILABLE, text), layer)


def _layer(record: Record, op: Op) -> str:
    layer = int(layers_of_scopes(record)[record.ops["scope"][op.key]])
    return "" if layer < 0 else record.text(int(record.layer_names["name"][layer]))


def requested_bytes(text: str) -> int | None:
    """Return the bytes that Paddle could not allocate, from the error's text; None if unknown."""
    exact = _REQUESTED_BYTES.search(text)
    return int(exact["size"]) if exact else _size(_REQUESTED, text)


def _size(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    if found is None:
        return None
    return round(float(found["size"]) * _UNITS[found["unit"]])
