"""The sums of what spans cost, for each row of a grouping."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.cost import parameters
from paddle_lab.analysis.graph.trees import taken
from paddle_lab.analysis.kernels.kernel_times import kernel_ns
from paddle_lab.analysis.ranking.grad_node_rows import node_runs
from paddle_lab.analysis.ranking.groupings import Grouping, Numbers
from paddle_lab.analysis.tables.columns import Partial, Values
from paddle_lab.analysis.time.spans import Spans
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ROLES

COSTS = ("kernel_ns", "flops", "macs", "output_bytes", "saved_bytes")


class Sums:
    """Sums over the spans inside each row.

    Parameters
    ----------
    record
        A record with answer tables.
    spans
        Its spans.
    grouping
        Which rows they belong to.
    """

    def __init__(self, record: Record, spans: Spans, grouping: Grouping) -> None:
        self._record, self._spans, self._grouping = record, spans, grouping
        self._unit, self._row = grouping.memberships()
        self._unit_of_op = np.full(len(record.ops), -1, np.int64)
        self._unit_of_op[spans.op[spans.op >= 0]] = grouping.unit[spans.op >= 0]

    def columns(self) -> dict[str, Values]:
        """Return the columns beside the names; all but ``self_ns`` contain what ran inside."""
        spans, grouping = self._spans, self._grouping
        own_row = grouping.own_row[grouping.unit]
        count = grouping.row_count
        calls = np.bincount(own_row, minlength=count) if grouping.calls is None else grouping.calls
        self_ns = np.bincount(own_row, spans.self_ns, count).astype(np.int64)
        found: dict[str, Values] = {
            "calls": calls,
            "self_ns": self_ns,
            "total_ns": self._inside(spans.self_ns),
        }
        for name in COSTS:
            found[name] = self._known(name)
        found["unknown_flops"] = self._inside(self.cost("flops")[1])
        return {**found, **self._read_parameters(), "dtype": self._dtypes()}

    def cost(self, name: str) -> tuple[Numbers, Numbers]:
        """Return the known cost of each span, and how many unknown costs it has besides.

        A backward call costs what the grad nodes in its graph cost.
        """
        record, spans = self._record, self._spans
        of_ops, of_nodes = self._costs(name)
        is_op = spans.op >= 0
        cost = np.full(len(spans), -1 if of_nodes is None else 0)
        cost[is_op] = of_ops[spans.op[is_op]]
        known, unknown = np.maximum(cost, 0), (cost < 0).astype(np.int64)
        if of_nodes is not None:
            members = record.backward_members
            cost = of_nodes[members["grad_node"]]
            called = np.flatnonzero(spans.backward_call >= 0)
            call = spans.backward_call[called]
            for sums, weights in ((known, np.maximum(cost, 0)), (unknown, cost < 0)):
                of_call = np.bincount(members["backward_call"], weights, len(record.backward_calls))
                sums[called] += of_call.astype(np.int64)[call]
        return known, unknown

    def _costs(self, name: str) -> tuple[Numbers, Numbers | None]:
        """Return the cost of each op, and that of one run of each grad node, if there is one."""
        record = self._record
        if name == "kernel_ns":
            runs = np.bincount(node_runs(record), minlength=len(record.grad_nodes))
            of_all_runs = kernel_ns(record, "grad_node")
            return kernel_ns(record, "op"), of_all_runs // np.maximum(runs, 1)
        table = record.grad_node_costs
        return record.op_costs[name], table[name] if name in table.columns else None

    def _known(self, name: str) -> Values:
        """Return the sum of the known costs; unknown for a row in which none is known."""
        known, unknown = map(self._inside, self.cost(name))
        return Partial(known, (known == 0) & (unknown > 0))

    def _inside(self, values: Numbers) -> Numbers:
        """Return the sum over all spans inside each row."""
        grouping = self._grouping
        of_unit = np.bincount(grouping.unit, values, len(grouping.parent))
        # Floats add integers exactly up to 2**53, and have 16 digits beyond.
        sums = np.bincount(self._row, of_unit[self._unit], grouping.row_count)
        return sums.astype(np.int64)

    def _distinct(self, op: npt.NDArray[Any], value: npt.NDArray[Any]) -> tuple[Numbers, Numbers]:
        """Return each pair of a row and a value of an op inside it, once."""
        most = int(value.max(initial=0)) + 1
        pairs = np.unique(self._unit_of_op[op] * most + value)
        unit, value = np.divmod(pairs, most)
        begin = np.searchsorted(self._unit, unit)
        counts = np.searchsorted(self._unit, unit, side="right") - begin
        at = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        rows, values = np.divmod(np.unique(self._row[at] * most + np.repeat(value, counts)), most)
        return rows, values

    def _read_parameters(self) -> dict[str, Values]:
        """Return how many parameters the ops inside each row read, each counted once."""
        read = parameters(self._record)
        row, tensor = self._distinct(read.op, read.tensor)
        count = self._grouping.row_count
        sizes = np.zeros((2, len(self._record.tensors)), np.int64)
        sizes[:, read.tensor] = read.elements, read.bytes
        return {
            name: np.bincount(row, size[tensor], count).astype(np.int64)
            for name, size in zip(("parameters", "parameter_bytes"), sizes, strict=True)
        }

    def _dtypes(self) -> Values:
        """Return the dtypes of the outputs of the ops inside each row."""
        uses, texts = self._record.uses, self._record.strings
        made = np.flatnonzero((uses["role"] == ROLES.index("output")) & (uses["tensor"] >= 0))
        dtype = taken(self._record.tensors["dtype"], uses["tensor"][made])
        found: list[Any] = [None] * self._grouping.row_count
        for row, code in zip(
            *map(np.ndarray.tolist, self._distinct(uses["op"][made], dtype)), strict=True
        ):
            found[row] = texts[code] if found[row] is None else f"{found[row]}, {texts[code]}"
        return found
