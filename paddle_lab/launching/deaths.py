"""Finds how ranks of a run died, from their flight records and the launcher's log."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from paddle_lab.flights.crash import Crash
from paddle_lab.flights.flight import read_flight
from paddle_lab.flights.layout import NOTES
from paddle_lab.runs.directory import flight_name
from paddle_lab.words import say

_STATUS: Final = re.compile(
    r"^Container rank (\d+) status failed .* code (-?\d+) log ", re.MULTILINE
)


def deaths(directory: Path) -> Iterator[Crash]:
    """Yield how ranks died. Ranks that the launcher ended by SIGTERM are omitted."""
    log = (directory / "launcher.log").read_text(encoding="utf-8", errors="replace")
    codes = {int(rank): int(code) for rank, code in _STATUS.findall(log)}
    for path in sorted(directory.glob(flight_name("*") + NOTES)):
        rank = int(path.name.removesuffix(NOTES).rpartition("-")[2])
        flight = read_flight(directory, flight_name(rank))
        if flight is None or flight.signal == "SIGTERM" or not flight.is_running:
            continue
        key = "status" if rank in codes else "signal" if flight.signal else "silent"
        values = {"status": _status(codes.get(rank, 0)), "signal": flight.signal}
        yield Crash(flight, say(f"flights.rank.{key}", rank=rank, **values))


def _status(code: int) -> str:
    try:
        return f"{code} ({signal.Signals(-code).name})"
    except ValueError:
        return str(code)
