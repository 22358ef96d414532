"""The layers of a model in a table: calls, shapes, parameters, FLOPs, bytes and host time."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.cost import parameters
from paddle_lab.analysis.graph.scopes import layers_of_scopes
from paddle_lab.analysis.graph.trees import Keys, depths, gathered, rows_by
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.ranking.ranked_table import RankedTable, flops_text, time_notes
from paddle_lab.analysis.tables.columns import listed
from paddle_lab.analysis.tables.text_table import text_table
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import BACKWARD_KINDS, PHASES, ROLES, SCOPE_KINDS
from paddle_lab.words import say

_MOST_ROWS = 60
_COLUMNS = (
    "layer", "class", "calls", "last_output", "column_parameters", "column_flops",
    "output_bytes", "host_time",
)  # fmt: skip
_REMAINING = BACKWARD_KINDS.index("remaining")
_NUMBERS = (2, 4, 5, 6, 7)


def layer_lines(record: Record, table: RankedTable) -> list[str]:
    """Return a table of the layers that were called, and sentences on the totals.

    If there are more than 60 layers, it has the outer ones. A layer's figures contain those of the
    layers inside it, over all of its calls.

    Parameters
    ----------
    record
        A record with answer tables.
    table
        Its table by layer.
    """
    names = [name for name in listed(table["layer"]) if name is not None]
    if not names:
        return []
    called = _called(record)
    depth = depths(record.layers["parent"])[called]
    deepest = max(
        (level for level in range(int(depth.max()) + 1) if np.sum(depth <= level) <= _MOST_ROWS),
        default=0,
    )
    shapes = _last_outputs(record, called)
    columns = ("class", "calls", "parameters", "flops", "unknown_flops", "output_bytes", "total_ns")
    cells = zip(*(listed(table[name])[: len(names)] for name in columns), strict=True)
    rows = []
    for name, level, shape, (kind, calls, count, flops, unknown, size, time_ns) in zip(
        names, depth.tolist(), shapes, cells, strict=True
    ):
        if level <= deepest:
            figures = (f"{count:,}", flops_text(flops, unknown), size_text(size))
            rows.append((name, kind, f"{calls:,}", shape, *figures, f"{time_ns / 1e6:,.3f} ms"))
    shown = rows[:_MOST_ROWS]
    header = [say(f"reports.summary.{name}") for name in _COLUMNS]
    lines = [
        say("reports.summary.title"),
        *text_table(header, shown, numbers=_NUMBERS).splitlines(),
    ]
    if len(shown) < len(names):
        lines.append(say("memory.more", n=len(names) - len(shown)))
    return [lines[0], *(f"  {line}" for line in (*lines[1:], *_totals(record, table)))]


def _called(record: Record) -> Keys:
    """Return the layers that were called, in the order of their first calls."""
    layer = record.scopes["layer"]
    called, first = np.unique(layer[layer >= 0], return_index=True)
    in_order: Keys = called[np.argsort(first)]
    return in_order


def _last_outputs(record: Record, called: Keys) -> list[str]:
    """Return the shape of the first output of the last op in the first call of each layer.

    An ellipsis says that it was not the same in all calls.
    """
    scopes, uses = record.scopes, record.uses
    last = np.full(len(scopes) + 1, -1, np.int64)
    np.maximum.at(last, record.ops["scope"], np.arange(len(record.ops)))
    last = gathered(scopes["parent"], last[:-1], np.maximum)
    is_output = (uses["role"] == ROLES.index("output")) & (uses["tensor"] >= 0)
    outputs = rows_by(np.where(is_output, uses["op"], -1), uses["tensor"], len(record.ops))
    is_call = scopes["kind"] == SCOPE_KINDS.index("layer")
    calls = rows_by(np.where(is_call, scopes["layer"], -1), last, len(record.layers))
    found = []
    for layer in called.tolist():
        made = [outputs(op)[:1] for op in calls(layer) if op >= 0]
        shapes = [
            record.text(int(record.tensors["shape"][tensor])) for first in made for tensor in first
        ]
        found.append(shapes[0] + (" …" if len({*shapes}) > 1 else "") if shapes else "–")
    return found


def _totals(record: Record, table: RankedTable) -> list[str]:
    # Other ops also read tensors that are only on their way to be parameters.
    in_layers = np.flatnonzero(layers_of_scopes(record)[record.ops["scope"]] >= 0)
    count, size = parameters(record).among(in_layers)
    return [
        say("reports.summary.parameters", n=count, size=size_text(size)),
        say("reports.summary.flops", phases=_flops_by_phase(record)),
        *time_notes(table.host),
    ]


def _flops_by_phase(record: Record) -> str:
    """Return the FLOPs of the ops of each phase; backward also has those of the grad nodes."""
    members, calls = record.backward_members, record.backward_calls
    is_run = np.append(calls["kind"], 0)[members["backward_call"]] < _REMAINING
    of_nodes = record.grad_node_costs["flops"][members["grad_node"][is_run]]
    told = []
    for number, phase in enumerate(PHASES):
        flops = record.op_costs["flops"][record.ops["phase"] == number]
        if phase == "backward":
            flops = np.append(flops, of_nodes)
        if len(flops):
            unknown = int(np.sum(flops < 0))
            known = None if unknown == len(flops) else int(np.maximum(flops, 0).sum())
            name = say(f"page.phase.{phase}")
            told.append(
                say("reports.summary.of_phase", phase=name, flops=flops_text(known, unknown))
            )
    return say("lists.between").join(told)
