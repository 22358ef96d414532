"""Which collector records which evidence."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.collector import Collector
from paddle_lab.capture.evidence.gradients.collector import Gradients
from paddle_lab.capture.evidence.values.collector import Values
from paddle_lab.capture.recorder.recorder import Recorder


def collectors(
    paddle: Any, recorder: Recorder, evidence: Collection[str], grad_region: str | None = None
) -> list[Collector]:
    """Return the collectors for what a trace is to record beside ops and graphs."""
    del paddle
    found: list[Collector] = []
    if "values" in evidence:
        found.append(Values(recorder))
    if "gradients" in evidence and DOOR.has("backward") and DOOR.has("gradients"):
        found.append(Gradients(recorder, values_of=grad_region))
    return found
