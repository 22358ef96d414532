"""Whether what was read of Paddle's event trees in memory is what their objects say of themselves.

The objects of a root's events and children are made for that, at half a microsecond each; some of
them are asked for all they tell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.capture.memory.event_columns import (
    ALLOCATE,
    COLUMNS,
    CPU,
    FREE,
    GRAD_NODE_PREFIX,
    OWN_PART_PREFIX,
    RESERVED_ALLOCATE,
    Int64s,
    Walked,
)

_TIME, _KIND, _THREAD = (COLUMNS.index(name) for name in ("time_ns", "kind", "thread"))
_SAMPLE, _NODES = 3, 12


def is_confirmed(walked: Walked, trees: dict[int, Any], *, has_devices: bool) -> bool:
    """Tell whether samples of all trees stand in what was read of them.

    Parameters
    ----------
    walked
        What was read.
    trees
        Paddle's objects, by thread.
    has_devices
        Whether memory but the host's was read.
    """
    table, places, names, runs = walked
    for thread, root in trees.items():
        own = table[table[:, _THREAD] == thread]
        events, children = root.mem_node, root.children_node
        # A root's events come first, in their order.
        times = [event.timestamp_ns for event in _sample(events)]
        if len(own) < len(events) or own[_sample(range(len(events))), _TIME].tolist() != times:
            return False
        nodes = _below(children)
        if not all(_has_run(node, thread, names, runs) for node in nodes):
            return False
        of_nodes = [event for node in nodes for event in _sample(node.mem_node)]
        for event in [*_sample(events), *of_nodes]:
            if not _has_event(own, places, event, has_devices=has_devices):
                return False
    return True


def _below(children: list[Any]) -> list[Any]:
    """Return some nodes of all levels below a root, down to what has names that count."""
    found = pending = _sample(children)
    while pending and len(found) < _NODES:
        above = [node for node in pending if not _is_own_part(node.name)]
        pending = [child for node in above for child in _sample(node.children_node)]
        found = [*found, *pending[:_NODES]]
    return found


def _is_own_part(name: str) -> bool:
    return name.removeprefix(GRAD_NODE_PREFIX).startswith(OWN_PART_PREFIX)


def _sample(items: Any) -> list[Any]:
    """Return the first, the last and some between."""
    last = len(items) - 1
    return [items[last * number // (_SAMPLE - 1)] for number in range(_SAMPLE)] if items else []


def _has_event(own: Int64s, places: list[str], event: Any, *, has_devices: bool) -> bool:
    place = event.place if has_devices else CPU
    change = event.increase_bytes
    kind = int(event.type) if has_devices else ALLOCATE if change > 0 else FREE
    expected = [
        kind,
        event.addr,
        abs(change),
        event.current_allocated,
        0 if place == CPU and kind < RESERVED_ALLOCATE else event.current_reserved,
        places.index(place) if place in places else -1,
    ]
    return expected in own[own[:, _TIME] == event.timestamp_ns, _KIND:_THREAD].tolist()


def _has_run(node: Any, thread: int, names: list[str], runs: Int64s) -> bool:
    starts, ends, threads = runs
    found = np.flatnonzero((starts == node.start_ns) & (ends == node.end_ns) & (threads == thread))
    name = node.name
    if not name.startswith(GRAD_NODE_PREFIX):
        return not any(names[run] == name for run in found.tolist())
    return any(names[run] == name.removeprefix(GRAD_NODE_PREFIX) for run in found.tolist())
