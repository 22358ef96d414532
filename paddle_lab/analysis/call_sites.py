"""Groups where there are no layers: the user's own function calls, and the turns of their loops."""

from __future__ import annotations

from paddle_lab.analysis.grouping import Grouping
from paddle_lab.trace.record import Record


def add_call_sites(record: Record, grouping: Grouping) -> None:
    """Stub."""
