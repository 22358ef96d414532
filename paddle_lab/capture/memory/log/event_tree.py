"""Paddle's event trees as columns, read through Paddle's own objects."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from paddle_lab.capture.memory.log.event_columns import (
    GRAD_NODE_PREFIX,
    OWN_PART_PREFIX,
    EventColumns,
    EventTable,
)


def read_trees(trees: dict[int, Any], *, has_devices: bool) -> EventTable:
    """Return what event trees tell.

    Parameters
    ----------
    trees
        By thread. The caller holds the profiler's result, which owns them.
    has_devices
        Whether this Paddle has memory other than the host's.
    """
    places: dict[str, int] = {}
    columns = EventColumns(places, has_devices=has_devices)
    names: list[str] = []
    runs: list[tuple[int, int, int]] = []
    for thread, root in trees.items():
        pending = [(root, False)]
        while pending:
            node, has_name = pending.pop()
            columns.add(node.mem_node)
            if columns.is_full:
                columns.read(thread)
            name = node.name if has_name else ""
            if name.startswith(GRAD_NODE_PREFIX):
                name = name.removeprefix(GRAD_NODE_PREFIX)
                names.append(sys.intern(name))
                runs.append((node.start_ns, node.end_ns, thread))
            # Inside of a grad node's own part are kernels.
            has_names = not name.startswith(OWN_PART_PREFIX)
            pending.extend((child, has_names) for child in node.children_node)
        columns.read(thread)
    run_columns = np.array(runs, np.int64).reshape(-1, 3).T
    return EventTable(columns.table(), list(places), names, run_columns)
