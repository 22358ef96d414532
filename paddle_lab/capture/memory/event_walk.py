"""The walk over Paddle's event trees: through its Python objects, or where they lie in memory.

In memory an event costs 0.1 to 1 µs and its confirming 0.6 to 2.5, the more where a backward ran,
whose trees are deep; through the objects it is 3 to 20 µs. What cannot be right, or is found to be
wrong, is read through the objects.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from paddle_lab.capture.memory.event_check import is_confirmed
from paddle_lab.capture.memory.event_columns import (
    COLUMNS,
    GRAD_NODE_PREFIX,
    OWN_PART_PREFIX,
    EventColumns,
    Walked,
)
from paddle_lab.capture.memory.event_layout import EVENT_LAYOUT
from paddle_lab.capture.native import NATIVE


def walk_events(trees: dict[int, Any], *, has_devices: bool) -> Walked:
    """Return what event trees tell.

    Parameters
    ----------
    trees
        By thread. Whoever calls holds the result of the profiler that owns them.
    has_devices
        Whether this Paddle has memory but the host's.
    """
    walked = _read_in_place(trees, has_devices=has_devices)
    if walked is None:
        EVENT_LAYOUT.learn(trees)
        walked = _read_in_place(trees, has_devices=has_devices)
    if walked is not None:
        is_doubted = EVENT_LAYOUT.is_doubted()
        if not is_doubted or is_confirmed(walked, trees, has_devices=has_devices):
            return walked
        EVENT_LAYOUT.forget()
    return walk_objects(trees, has_devices=has_devices)


def walk_objects(trees: dict[int, Any], *, has_devices: bool) -> Walked:
    """Return what event trees tell, asked of Paddle's Python objects."""
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
            # What stands in a grad node's own part are kernels.
            has_names = not name.startswith(OWN_PART_PREFIX)
            pending.extend((child, has_names) for child in node.children_node)
        columns.read(thread)
    return columns.table(), list(places), names, np.array(runs, np.int64).reshape(-1, 3).T


def _read_in_place(trees: dict[int, Any], *, has_devices: bool) -> Walked | None:
    """Return what event trees tell; ``None`` where it is not known how to read them."""
    layout = EVENT_LAYOUT
    if NATIVE is None or not layout.knows_events:
        return None
    if not layout.knows_nodes and any(root.children_node for root in trees.values()):
        return None
    # None where there is memory of a device that is not known yet, and where something is odd.
    found = NATIVE.read_event_trees(trees, layout.offsets, has_devices)
    if found is None:
        return None
    events, places, names, runs = found
    table = np.frombuffer(events, np.int64).reshape(-1, len(COLUMNS))
    run_columns = np.frombuffer(runs, np.int64).reshape(-1, 3).T
    return table, places, list(map(sys.intern, names)), run_columns
