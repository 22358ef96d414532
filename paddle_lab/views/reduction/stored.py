"""What a notebook stores of a trace: the whole trace, a reduced copy, or a single op.

A copy first drops data that is large and rarely used, but keeps every op. If it is still too large,
it drops the last ops, as few as possible, and combines small blocks of memory. If no copy is small
enough, a single op replaces all ops.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np

from paddle_lab.analysis.answers import with_answers
from paddle_lab.trace.pack import pack
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import (
    RECORD_TABLES,
    UNSEEN_TABLES,
    VIEW_TABLES,
)
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.views.reduction.first_ops import first_ops
from paddle_lab.views.reduction.rows import changed, with_used_strings
from paddle_lab.views.reduction.timeline import with_small_blocks_summed_up
from paddle_lab.words import listing, say

LARGEST_STORED_BYTES: Final = 640_000
"""The payload is stored twice as base64: in the output and in the widget's state. Both together
leave room for the rest of a notebook of 2 MB."""
_LEVEL: Final = 6
"""Level of zlib. Level 9 saves 2 to 4 % of a copy of 180,000 ops, and takes four times as long."""
_LEVEL_SAVES: Final = 1.5
"""A fast-compressed payload is at most this many times larger than a slowly compressed one."""
_TRIES: Final = 4
_AIM: Final = 0.93
"""The share of the room that each try aims to fill. With fewer ops each op takes more bytes."""
_FEWEST: Final = 20
"""A copy has at least this many ops and this many blocks of memory."""
_TIME_STEP_NS: Final = 1024
_LONGEST_SOURCE: Final = 20_000
_LONGEST_TEXT: Final = 200


def stored_payload(
    record: Record, payload: bytes, *, limit_bytes: int = LARGEST_STORED_BYTES
) -> bytes:
    """Return the bytes that a notebook stores of a trace.

    Parameters
    ----------
    record
        A record with the tables that its views need.
    payload
        The same record, packed for a page.
    limit_bytes
        The largest size that is allowed.

    Returns
    -------
    bytes
        ``payload`` itself if it is small enough, otherwise a smaller packed record. If the copy
        lacks data that a view shows, its first notice says so.
    """
    if len(payload) <= limit_bytes:
        return payload
    if len(payload) <= limit_bytes * _LEVEL_SAVES:
        whole = pack(record, level=_LEVEL)
        if len(whole) <= limit_bytes:
            return whole
    every, told = without_detail(record)
    stored = _packed(every, told)
    if len(stored) <= limit_bytes:
        return stored
    return _fullest(every, told, len(stored), limit_bytes) or _summary(record)


def without_detail(record: Record) -> tuple[Record, list[str]]:
    """Return the record without large, rarely used data, and the names of the dropped data."""
    tables = dict(record.tables)
    strings = StringPool(record.strings)
    told = ["addresses"] if len(record.grad_nodes) else []
    told.append("times")
    sources = record.sources
    for name in ("ops", "backward_times"):
        times = {
            column: (cells + _TIME_STEP_NS // 2) // _TIME_STEP_NS * _TIME_STEP_NS
            for column, cells in tables[name].columns.items()
            if column.endswith("_ns")
        }
        tables[name] = changed(tables[name], **times)
    # Addresses cannot be compressed well.
    addresses = np.zeros(len(record.grad_nodes), np.int64)
    tables["grad_nodes"] = changed(record.grad_nodes, address=addresses)
    histograms = "grad_histograms", "value_histograms"
    for name in (*UNSEEN_TABLES, *histograms):
        tables[name] = Table.empty(VIEW_TABLES[name])
    if any(len(record.tables[name]) for name in histograms):
        told.append("histograms")
    if len(record.log):
        told.append("log")
        tables["log"] = Table.empty(VIEW_TABLES["log"])
    is_long = [len(record.text(text)) > _LONGEST_SOURCE for text in sources["text"].tolist()]
    if any(is_long):
        told.append("sources")
        text = np.where(is_long, strings[""], sources["text"])
        tables["sources"] = changed(sources, text=text)
    return with_used_strings(Record(tables, strings.to_list(), record.origin)), told


def reduced(record: Record, most: int) -> tuple[Record, list[str]]:
    """Return the record with few enough ops and blocks, and the names of the dropped data."""
    told = []
    copy = record
    if len(record.ops) > most:
        copy = first_ops(record, most)
        told.append("later_ops")
    with_sums = with_small_blocks_summed_up(copy, most_blocks=most)
    if with_sums is not copy:
        told.append("blocks")
    return with_sums, told


def _fullest(record: Record, told: list[str], size: int, limit_bytes: int) -> bytes:
    """Return a packed copy that fills most of the room, ``b""`` if none is small enough."""
    most = max(len(record.ops), len(record.allocations))
    for _ in range(_TRIES):
        # Guess the number from the size of the last copy, as if all ops took the same room.
        most = max(_FEWEST, int(most * _AIM * limit_bytes / size))
        copy, more = reduced(record, most)
        stored = _packed(copy, told + more)
        size = len(stored)
        if size <= limit_bytes:
            return stored
    return b""


def _summary(record: Record) -> bytes:
    """Return a packed record with the title and a single op, which replaces all ops."""

    def cut(text: str) -> str:
        return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"

    one = Record.empty()
    one.strings = ["", say("reports.reduced.ops_here", n=len(record.ops))]
    ops: dict[str, Sequence[int]] = {
        name: [-1 if kind.startswith("key:") else 0] for name, kind in RECORD_TABLES["ops"].items()
    }
    ops |= {"name": [1], "duration_ns": [int(record.ops["duration_ns"].sum())]}
    one.tables["ops"] = Table.from_sequences(RECORD_TABLES["ops"], ops)
    one.origin = dataclasses.replace(
        record.origin,
        title=cut(record.origin.title),
        exception=cut(record.origin.exception),
        stopped_file="",
        notices=[],
        checks=[],
    )
    return _packed(with_answers(one), ["graph"])


def _packed(record: Record, told: list[str]) -> bytes:
    """Return a packed record with a notice that names the dropped data."""
    parts = listing([say(f"reports.reduced.{name}", n=len(record.ops)) for name in told])
    notices = [say("reports.reduced", parts=parts), *record.origin.notices]
    origin = dataclasses.replace(record.origin, notices=notices)
    return pack(Record(record.tables, record.strings, origin), level=_LEVEL)
