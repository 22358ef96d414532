"""What ops made that a trace does not keep: data, to the ops that it keeps."""

from __future__ import annotations

from paddle_lab.capture.recorder.tensors import ACTIVATION, EXTERNAL
from paddle_lab.trace.record import Record


def mark_earlier(record: Record) -> None:
    """Let tensors whose makers are gone be external: nothing in the record made them."""
    tensors = record.tensors
    kind = tensors["kind"]
    is_earlier = (kind == ACTIVATION) & (tensors["producer"] < 0) & (tensors["detached_from"] < 0)
    kind[is_earlier] = EXTERNAL
