"""The segments that a profiler recorded, as the reader of a memory trace receives them."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from paddle_lab.capture.limit import limiter
from paddle_lab.capture.memory import capture
from paddle_lab.capture.memory.held.familiar_calls import FamiliarCalls

if TYPE_CHECKING:
    import pytest

    from paddle_lab.capture.memory.log.segments import Segment


def keep_segments(monkeypatch: pytest.MonkeyPatch) -> list[Segment]:
    """Return a list that is filled when memory traces end."""
    segments: list[Segment] = []
    monkeypatch.setattr(limiter, "_FIRST_SETTLE_OPS", 100_000)
    monkeypatch.setattr(FamiliarCalls, "is_second", lambda _self, _signature: False)
    read = capture.read_segments

    def read_and_keep(found, **options):
        segments.extend(map(copy, found))  # reading them lets go of the results
        return read(found, **options)

    monkeypatch.setattr(capture, "read_segments", read_and_keep)
    return segments
