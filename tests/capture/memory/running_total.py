"""The running total of a record's allocations, to be compared with Paddle's counter."""

from __future__ import annotations

import numpy as np

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ALLOCATION_KINDS


class RunningTotal:
    """Allocated memory over time, on the clock of the record.

    Frees come before allocations of the same nanosecond; no thread does both at once.
    """

    def __init__(self, record: Record) -> None:
        blocks, totals = record.allocations, record.memory_totals
        self.start_bytes = int(totals["allocated_bytes"][0])
        self.counted_end_bytes = int(totals["allocated_bytes"][-1])
        begun, ended = blocks["start_ns"] >= 0, blocks["end_ns"] >= 0
        times = np.concatenate([blocks["end_ns"][ended], blocks["start_ns"][begun]])
        changes = np.concatenate([-blocks["bytes"][ended], blocks["bytes"][begun]])
        order = np.argsort(times, kind="stable")
        self.times_ns = times[order]
        self.totals = self.start_bytes + np.cumsum(changes[order])

    @property
    def peak_bytes(self) -> int:
        return max(self.start_bytes, int(self.totals.max(initial=0)))

    @property
    def end_bytes(self) -> int:
        return int(self.totals[-1]) if len(self.totals) else self.start_bytes

    def at(self, time_ns: int) -> int:
        event = int(np.searchsorted(self.times_ns, time_ns, side="right")) - 1
        return self.start_bytes if event < 0 else int(self.totals[event])


def rows(record: Record, **wanted: object) -> list[dict[str, object]]:
    """Return the allocations that match ``wanted``, with the names of kind, op and grad node."""
    blocks = record.allocations
    found = []
    for key in range(len(blocks)):
        row: dict[str, object] = {name: int(blocks[name][key]) for name in blocks.columns}
        op, node = int(blocks["op"][key]), int(blocks["grad_node"][key])
        row["kind"] = ALLOCATION_KINDS[int(blocks["kind"][key])]
        row["op_name"] = record.text(record.ops["name"][op]) if op >= 0 else ""
        row["node_name"] = record.text(record.grad_nodes["name"][node]) if node >= 0 else ""
        if all(row[name] == value for name, value in wanted.items()):
            found.append(row)
    return found
