"""The costs of spans, summed for each row of a grouping."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.cost import parameters
from paddle_lab.analysis.kernels.roofline import kernel_ns
from paddle_lab.analysis.ranking.grad_node_rows import node_runs
from paddle_lab.analysis.ranking.groupings import Grouping, Numbers
from paddle_lab.analysis.tables.columns import Partial, Values
from paddle_lab.analysis.time.spans import Spans
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ROLES
from paddle_lab.trace.trees import taken

COSTS = ("kernel_ns", "flops", "macs", "output_bytes", "saved_bytes")


class Sums:
    """Sums over the spans inside each row.

    Parameters
    ----------
    record
        A record with answer tables.
    spans
        The spans of the record.
    grouping
        The rows to which the units belong.
    """

    def __init__(self, record: Record, spans: Spans, grouping: Grouping) -> None:
        self._record, self._spans, self._grouping = record, spans, grouping
        self._unit, self._row = grouping.memberships()
        self._unit_of_op = np.full(len(record.ops), -1, np.int64)
        self._unit_of_op[spans.op[spans.op >= 0]] = grouping.unit[spans.op >= 0]

    def columns(self) -> dict[str, Values]:
        """Return the columns after the names. All except ``self_ns`` include inner spans."""
        spans, grouping = self._spans, self._grouping
        own_row = grouping.own_row[grouping.unit]
        count = grouping.row_count
        calls = np.bincount(own_row, minlength=count) if grouping.calls is None else grouping.calls
        self_ns = np.bincount(own_row, spans.self_ns, count).astype(np.int64)
        no_time = np.full(count, self._record.origin.duration_ns == 0)  # a saved program
        found: dict[str, Values] = {
            "calls": calls,
            "self_ns": Partial(self_ns, no_time),
            "total_ns": Partial(self._inside(spans.self_ns), no_time),
        }
        unknown = {}
        for name in COSTS:
            cost, missing, counted = map(self._inside, self._cost(name))
            # A saved program has unknown extents, so the sum of output bytes is unknown.
            is_unknown = (missing > 0) & ((cost == 0) | (name == "output_bytes"))
            found[name] = Partial(cost, (counted == 0) | is_unknown)
            unknown[f"unknown_{name}"] = missing
        found |= {name: unknown[name] for name in ("unknown_flops", "unknown_saved_bytes")}
        return {**found, **self._read_parameters(), "dtype": self._dtypes()}

    def _cost(self, name: str) -> tuple[Numbers, Numbers, Numbers]:
        """Return the known cost of each span, and how many parts are unknown and known.

        The cost of a backward call is the sum of the costs of the grad nodes in its graph.
        """
        record, spans = self._record, self._spans
        of_ops, of_nodes = self._costs(name)
        is_op = spans.op >= 0
        sums = np.zeros((3, len(spans)), np.int64)
        sums[:, is_op] = _parts(of_ops[spans.op[is_op]])
        if of_nodes is not None:
            members = record.backward_members
            called = np.flatnonzero(spans.backward_call >= 0)
            for sum_, part in zip(sums, _parts(of_nodes[members["grad_node"]]), strict=True):
                of_call = np.bincount(members["backward_call"], part, len(record.backward_calls))
                sum_[called] += of_call.astype(np.int64)[spans.backward_call[called]]
        return sums[0], sums[1], sums[2]

    def _costs(self, name: str) -> tuple[Numbers, Numbers | None]:
        """Return the cost of each op and, if it is known, the cost of one run of each grad node."""
        record = self._record
        if name == "kernel_ns":
            runs = np.bincount(node_runs(record), minlength=len(record.grad_nodes))
            of_all_runs = kernel_ns(record, "grad_node")
            return kernel_ns(record, "op"), of_all_runs // np.maximum(runs, 1)
        table = record.grad_node_costs
        return record.op_costs[name], table[name] if name in table.columns else None

    def _inside(self, values: Numbers) -> Numbers:
        """Return the sum over all spans inside each row."""
        grouping = self._grouping
        of_unit = np.bincount(grouping.unit, values, len(grouping.parent))
        # Sums of floats are exact for integers up to 2**53. Larger sums have 16 correct digits.
        sums = np.bincount(self._row, of_unit[self._unit], grouping.row_count)
        return sums.astype(np.int64)

    def _distinct(self, op: npt.NDArray[Any], value: npt.NDArray[Any]) -> tuple[Numbers, Numbers]:
        """Return the distinct pairs of a row and a value that some op inside the row has."""
        most = int(value.max(initial=0)) + 1
        pairs = np.unique(self._unit_of_op[op] * most + value)
        unit, value = np.divmod(pairs, most)
        begin = np.searchsorted(self._unit, unit)
        counts = np.searchsorted(self._unit, unit, side="right") - begin
        at = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        rows, values = np.divmod(np.unique(self._row[at] * most + np.repeat(value, counts)), most)
        return rows, values

    def _read_parameters(self) -> dict[str, Values]:
        """Return how many parameters the ops inside each row read. Each parameter counts once."""
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


def _parts(cost: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
    """Return the known costs, and masks of the unknown and of the known ones."""
    return np.maximum(cost, 0), cost < 0, cost >= 0
