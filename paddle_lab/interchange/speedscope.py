"""Host time as a flame graph of Python stacks, in a file for www.speedscope.app.

Each thread is a profile in speedscope's evented format. Its frames are lines of Python, and below
them ops and backward calls (:mod:`paddle_lab.analysis.time.spans`). In the cell's thread, the time
between two ops is a separate frame below the calls that contain both ops. So the frames of this
thread fill the whole time of the cell.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.analysis.time.spans import HostTime, Spans, host_time
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import BACKWARD_KINDS
from paddle_lab.version import __version__
from paddle_lab.words import say

SCHEMA = "https://www.speedscope.app/file-format-schema.json"

Path = tuple[int, ...]
"""Rows of the file's frames, from the outermost to the innermost call."""
Call = tuple[int, int, Path]
"""Start, end and path. A call comes after the call that contains it."""


def speedscope(record: Record) -> str:
    """Return the profile of a record with answer tables as JSON.

    Parameters
    ----------
    record
        The record. If it lacks ops or times
        (:attr:`~paddle_lab.analysis.time.spans.HostTime.is_complete`), the file has no frames for
        the time between ops.
    """
    host = host_time(record)
    frames = _Frames(record)
    threads = np.unique(np.append(host.spans.thread, 0)).tolist()
    profiles = [_profile(host, thread, _calls(record, host, frames, thread)) for thread in threads]
    return json.dumps(
        {
            "$schema": SCHEMA,
            "name": record.origin.title or say("page.toolbar.trace"),
            "exporter": f"Paddle Lab {__version__}",
            "activeProfileIndex": 0,
            "shared": {"frames": frames.rows},
            "profiles": profiles,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


class _Frames:
    """The distinct frames of a file, and the frames of each stack."""

    def __init__(self, record: Record) -> None:
        self.rows: list[dict[str, Any]] = []
        self._record = record
        self._row_of: dict[str | int, int] = {}
        self._paths: dict[int, Path] = {-1: ()}

    def named(self, name: str) -> int:
        """Return the row of a frame that is not Python code, such as an op."""
        return self._row(name, {"name": name})

    def of_stack(self, stack: int) -> Path:
        """Return the rows of the frames of a stack, the outermost first."""
        missing = []
        while stack not in self._paths:
            missing.append(stack)
            stack = int(self._record.stacks["caller"][stack])
        path = self._paths[stack]
        for each in reversed(missing):
            frame = Frame(self._record, int(self._record.stacks["frame"][each]))
            name = f"{frame.function} ({frame.where})"
            row = self._row(frame.key, {"name": name, "file": frame.file, "line": frame.line})
            path = self._paths[each] = (*path, row)
        return path

    def _row(self, key: str | int, row: dict[str, Any]) -> int:
        if key not in self._row_of:
            self._row_of[key] = len(self.rows)
            self.rows.append(row)
        return self._row_of[key]


def _profile(host: HostTime, thread: int, calls: list[Call]) -> dict[str, Any]:
    events: list[dict[str, Any]] = []
    path: Path = ()

    def go(target: Path, time_ns: int) -> None:
        nonlocal path
        same = len(_common(path, target))
        events.extend({"type": "C", "frame": row, "at": time_ns} for row in reversed(path[same:]))
        events.extend({"type": "O", "frame": row, "at": time_ns} for row in target[same:])
        path = target

    running: list[Call] = []
    for call in (*calls, (host.wall_ns, host.wall_ns, ())):
        while running and running[-1][1] <= call[0]:
            _, end_ns, ended = running.pop()
            # The op has ended. The calls that also contain the next op are still running.
            go(running[-1][2] if running else _common(ended[:-1], call[2]), end_ns)
        go(call[2], call[0])
        running.append(call)
    return {
        "type": "evented",
        "name": say("reports.time.thread", n=thread) if thread else say("reports.time.cell_thread"),
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": host.wall_ns,
        "events": events,
    }


def _calls(record: Record, host: HostTime, frames: _Frames, thread: int) -> list[Call]:
    """Return the spans of a thread. For the cell's thread, also return the gaps between them."""
    spans, gaps = host.spans, host.gaps
    found: list[Call] = []
    paths: dict[int, Path] = {}
    mine = np.flatnonzero((spans.thread == thread) & (spans.start_ns < host.wall_ns))
    columns = (spans.start_ns, spans.end_ns, spans.parent, spans.stack)
    names = _names(record, spans)
    for span, start_ns, end_ns, parent, stack in zip(
        mine.tolist(), *(column[mine].tolist() for column in columns), strict=True
    ):
        path = frames.of_stack(stack)
        if parent >= 0:
            around = frames.of_stack(int(spans.stack[parent]))
            path = paths[parent] + path[len(_common(path, around)) :]
        paths[span] = (*path, frames.named(names[span]))
        found.append((start_ns, min(end_ns, host.wall_ns), paths[span]))
    if thread == 0 and host.is_complete:
        own, outside = (frames.named(say(f"reports.time.{name}")) for name in ("own", "outside"))
        parts = (gaps.start_ns, gaps.own_ns, gaps.end_ns, gaps.stack)
        for start_ns, own_ns, end_ns, stack in zip(*(x.tolist() for x in parts), strict=True):
            path, middle_ns = frames.of_stack(stack), start_ns + own_ns
            both = ((start_ns, middle_ns, own), (middle_ns, end_ns, outside))
            found += [(begin, end, (*path, row)) for begin, end, row in both if begin < end]
        found.sort(key=lambda call: (call[0], -call[1]))
    return found


def _names(record: Record, spans: Spans) -> list[str]:
    """Return the name of each span's op or backward call."""
    kinds = record.backward_calls["kind"]
    return [
        record.text(int(record.ops["name"][op])) if op >= 0 else BACKWARD_KINDS[kinds[call]]
        for op, call in zip(spans.op.tolist(), spans.backward_call.tolist(), strict=True)
    ]


def _common(path: Path, other: Path) -> Path:
    """Return the frames with which both paths begin."""
    same = next((i for i, (a, b) in enumerate(zip(path, other, strict=False)) if a != b), None)
    return min(path, other, key=len) if same is None else path[:same]
