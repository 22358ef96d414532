"""What a stored copy can do without, table by table and column by column."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import VIEW_TABLES
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.views.reduction.tidying import with_fewer_strings

_UNSEEN: Final = (
    "events",
    "living_tensors",
    "tensor_holders",
    "tensor_lives",
    "eval_scopes",
    "optimizers",
    "optimizer_parameters",
    "rerun_differences",
    "grad_targets",
    "grad_stops",
    "counters",
    "samples",
)
"""The evidence that findings were made of: no view reads it."""
_LONGEST_TEXT, _AROUND_LINES = 20_000, 6


def without_tables(record: Record, *names: str) -> Record:
    """Return the record with these tables empty."""
    empty = {name: Table.empty(VIEW_TABLES[name]) for name in names if name in record.tables}
    return with_fewer_strings(Record({**record.tables, **empty}, record.strings, record.origin))


def without_evidence(record: Record) -> Record:
    """Return the record without what no view reads."""
    return without_tables(record, *_UNSEEN)


def without_addresses(record: Record) -> Record:
    """Return the record without the addresses of grad nodes, which are as random as large."""
    return _with(record, "grad_nodes", address=np.zeros(len(record.grad_nodes), np.int64))


def with_rounded_times(record: Record, *, step_ns: int) -> Record:
    """Return the record with the ops' times in whole steps."""
    return _with(
        record,
        "ops",
        **{
            name: (record.ops[name] + step_ns // 2) // step_ns * step_ns
            for name in ("start_ns", "duration_ns")
        },
    )


def without_attributes(record: Record) -> Record:
    """Return the record without the ops' arguments that are no tensors."""
    code = StringPool(record.strings)[""]
    nothing = np.full(len(record.ops), code, np.int32)
    return without_tables(_with(record, "ops", attributes=nothing), "attribute_defaults")


def with_shorter_sources(record: Record) -> Record:
    """Return the record with, of long texts, only the lines around those that a frame points at."""
    sources, frames = record.sources, record.frames
    strings = StringPool(record.strings)
    rows: list[tuple[int, int, int, int]] = []
    columns = (sources[name].tolist() for name in ("file", "first_line", "text", "cell"))
    for file, first_line, text, cell in zip(*columns, strict=True):
        whole = record.text(text)
        if len(whole) <= _LONGEST_TEXT:
            rows.append((file, first_line, text, cell))
            continue
        lines = whole.split("\n")
        own = frames["file"] == file
        used = np.zeros(len(lines) + 2 * _AROUND_LINES, np.bool_)
        for name in ("line", "end_line"):
            at = frames[name][own] - first_line
            at = at[(at >= 0) & (at < len(lines))]
            for shift in range(2 * _AROUND_LINES + 1):
                used[at + shift] = True
        used = used[_AROUND_LINES:][: len(lines)]
        changes = np.flatnonzero(np.diff(used, prepend=False, append=False)).tolist()
        for start, end in zip(changes[::2], changes[1::2], strict=True):
            code = strings["\n".join(line[:1000] for line in lines[start:end])]
            rows.append((file, first_line + start, code, cell))
    table = Table.from_sequences(
        VIEW_TABLES["sources"],
        dict(
            zip(VIEW_TABLES["sources"], zip(*rows, strict=True) if rows else [()] * 4, strict=True)
        ),
    )
    return with_fewer_strings(
        Record({**record.tables, "sources": table}, strings.to_list(), record.origin)
    )


def with_shorter_texts(record: Record, *, longest: int) -> Record:
    """Return the record with every text cut to ``longest`` characters."""

    def cut(text: str) -> str:
        return text if len(text) <= longest else f"{text[: longest - 1]}…"

    origin = dataclasses.replace(
        record.origin, title=cut(record.origin.title), exception=cut(record.origin.exception)
    )
    strings = [cut(text) for text in record.strings]
    return Record(record.tables, strings, origin)


def with_fewer_rows(record: Record, name: str, *, most: int) -> Record:
    """Return the record with the first rows of a table that no other refers to."""
    table = record.tables[name]
    columns = {column: values[:most] for column, values in table.columns.items()}
    return Record({**record.tables, name: Table(columns)}, record.strings, record.origin)


def _with(record: Record, name: str, **columns: npt.NDArray[Any]) -> Record:
    table = Table({**record.tables[name].columns, **columns})
    return Record({**record.tables, name: table}, record.strings, record.origin)
