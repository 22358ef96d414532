"""``trace.backward_calls`` and ``trace.regions``: a short summary of each call and region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.analysis.tables.columns import Values
from paddle_lab.analysis.tables.data_frames import Framed, attributes
from paddle_lab.analysis.tables.rows import RowList
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import BACKWARD_KINDS, SCOPE_KINDS
from paddle_lab.trace.trees import nearest_marked, taken


@dataclass(frozen=True)
class BackwardCall:
    """A call that computed gradients. The kind ``"remaining"`` is for graphs that no call ran."""

    key: int
    kind: str
    frame: Frame | None
    """The line that made the call."""
    grad_node_count: int
    create_graph: bool
    error: str
    """The text of the exception, ``""`` if the call succeeded."""
    inside: int | None = None
    """Key of the backward call in which this one was made, as in recomputation."""


@dataclass(frozen=True)
class Region:
    """An execution of a ``with paddle_lab.region(name)`` block."""

    key: int
    """Row in the record's ``scopes``."""
    name: str
    op_count: int
    """The number of ops called in the region, including those in nested calls."""


class BackwardCalls(Framed, RowList[BackwardCall]):
    """The backward calls of a trace, in order."""

    _index = "backward_call"

    def _columns(self) -> dict[str, Values]:
        frames = [call.frame for call in self]
        names = ("kind", "grad_node_count", "create_graph", "error", "inside")
        return {
            "backward_call": [call.key for call in self],
            **attributes(self, names),
            "file": [frame.file if frame else None for frame in frames],
            "line": [frame.line if frame else None for frame in frames],
            "cell": [frame.cell if frame else None for frame in frames],
        }


class Regions(Framed, RowList[Region]):
    """The executions of regions in a trace, in order."""

    _index = "scope"

    def _columns(self) -> dict[str, Values]:
        keys: Values = [region.key for region in self]
        return {"scope": keys, **attributes(self, ("name", "op_count"))}


def backward_calls(record: Record) -> BackwardCalls:
    """Return the backward calls of a record with answer tables, in order."""
    calls = record.backward_calls
    members = np.bincount(record.backward_members["backward_call"], minlength=len(calls)).tolist()
    around = _calls_around(record)
    frames = taken(record.stack_frames["frame"], calls["stack"]).tolist()
    return BackwardCalls(
        [
            BackwardCall(
                key=key,
                kind=BACKWARD_KINDS[calls["kind"][key]],
                frame=Frame(record, frames[key]) if frames[key] >= 0 else None,
                grad_node_count=members[key],
                create_graph=bool(calls["create_graph"][key]),
                error=record.text(int(calls["error"][key])),
                inside=around[key] if around[key] >= 0 else None,
            )
            for key in range(len(calls))
        ]
    )


def _calls_around(record: Record) -> list[int]:
    """Return for each backward call the backward call around it, -1 for none."""
    called, scopes = record.scopes["backward_call"], record.backward_calls["scope"]
    nearest = nearest_marked(record.scopes["parent"], called >= 0)
    around: list[int] = taken(called, taken(nearest, scopes)).tolist()
    return around


def regions(record: Record) -> Regions:
    """Return the regions of a record with answer tables, in the order in which they began."""
    scopes = record.scopes
    op_counts = dict(
        zip(record.groups["scope"].tolist(), record.groups["op_count"].tolist(), strict=True)
    )
    return Regions(
        [
            Region(
                key=scope,
                name=record.text(int(scopes["name"][scope])),
                op_count=op_counts.get(scope, 0),
            )
            for scope in np.flatnonzero(scopes["kind"] == SCOPE_KINDS.index("region")).tolist()
        ]
    )
