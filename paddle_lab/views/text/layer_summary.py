"""The layers of a model as a table: calls, shapes, parameters, FLOPs, bytes and host time."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.cost import parameters
from paddle_lab.analysis.graph.scopes import layers_of_scopes
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.ranking.grad_node_rows import node_runs
from paddle_lab.analysis.ranking.ranked_table import (
    RankedTable,
    cell_text,
    time_notes,
    unknown_notes,
)
from paddle_lab.analysis.tables.text_table import text_table
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import PHASES, ROLES, SCOPE_KINDS
from paddle_lab.trace.trees import Keys, depths, gathered, rows_by
from paddle_lab.words import say

_MOST_ROWS = 60
_COLUMNS = (
    "layer", "class", "calls", "last_output", "column_parameters", "column_flops",
    "output_bytes",
)  # fmt: skip


def layer_lines(record: Record, table: RankedTable) -> list[str]:
    """Return a table of the layers that were called, and sentences about the totals.

    If there are more than 60 layers, only the outer layers are listed. The figures of a layer are
    sums over its calls and include the layers inside it. Without layers only the sentences are
    returned.

    Parameters
    ----------
    record
        A record with answer tables.
    table
        The result of ``trace.table(by="layer")``.
    """
    layers = [row for row in table if row["layer"] is not None]
    if not layers:
        return _totals(record, table) if len(record.ops) else []
    called = _called(record)
    depth = depths(record.layers["parent"])[called]
    deepest = max(
        (level for level in range(int(depth.max()) + 1) if np.sum(depth <= level) <= _MOST_ROWS),
        default=0,
    )
    shapes = _last_outputs(record, called)
    times = {}
    if record.origin.duration_ns:
        times["total_ns"] = say("reports.summary.host_time")
    if len(record.kernel_times):
        times["kernel_ns"] = say("reports.table.column.kernel_ns")
    names = ("parameters", "flops", "output_bytes", *times)
    rows = [
        (
            *(cell_text(row, name) for name in ("layer", "class", "calls")),
            shape,
            *(cell_text(row, name) for name in names),
        )
        for row, level, shape in zip(layers, depth.tolist(), shapes, strict=True)
        if level <= deepest
    ]
    shown = rows[:_MOST_ROWS]
    header = [*(say(f"reports.summary.{name}") for name in _COLUMNS), *times.values()]
    lines = [
        say("reports.summary.title"),
        *text_table(header, shown, numbers=(2, *range(4, len(header)))).splitlines(),
    ]
    if len(shown) < len(layers):
        lines.append(say("memory.more", n=len(layers) - len(shown)))
    return [lines[0], *(f"  {line}" for line in (*lines[1:], *_totals(record, table)))]


def _called(record: Record) -> Keys:
    """Return the layers that were called, in the order of their first calls."""
    layer = record.scopes["layer"]
    called, first = np.unique(layer[layer >= 0], return_index=True)
    in_order: Keys = called[np.argsort(first)]
    return in_order


def _last_outputs(record: Record, called: Keys) -> list[str]:
    """Return the shape of each layer's output, which is the output of its last op.

    If the shape differs between calls, an ellipsis follows the shape of the first call.
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
    # Count only layers. Ops outside of layers may read tensors before they become parameters.
    in_layers = np.flatnonzero(layers_of_scopes(record)[record.ops["scope"]] >= 0)
    count, size = parameters(record).among(in_layers)
    parameters_told = [say("reports.summary.parameters", n=count, size=size_text(size))]
    return [
        *(parameters_told if len(record.layers) else []),
        say("reports.summary.flops", phases=_flops_by_phase(record)),
        *unknown_notes(table.unknown),
        *time_notes(table.host),
    ]


def _flops_by_phase(record: Record) -> str:
    """Return the FLOPs of the ops in each phase. The backward phase includes grad nodes."""
    of_nodes = record.grad_node_costs["flops"][node_runs(record)]
    told = []
    for number, phase in enumerate(PHASES):
        flops = record.op_costs["flops"][record.ops["phase"] == number]
        if phase == "backward":
            flops = np.append(flops, of_nodes)
        if len(flops):
            unknown = int(np.sum(flops < 0))
            known = None if unknown == len(flops) else int(np.maximum(flops, 0).sum())
            text = cell_text({"flops": known, "unknown_flops": unknown}, "flops")
            name = say(f"page.phase.{phase}")
            told.append(say("reports.summary.of_phase", phase=name, flops=text))
    return say("lists.between").join(told)
