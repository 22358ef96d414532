"""Which grad node is which run: Paddle's order of execution, replayed over the recorded graph.

The profiler tells the names of the grad nodes that ran, in order; names repeat. Paddle runs a node
when all who hand it gradients have run, first come first served, accumulation nodes before all
others. Replaying that, each name has one place it can belong to. Where Paddle's order is another
(a hook that runs early, a part of the graph that ``paddle.grad`` leaves out), the name still
chooses among the nodes that may run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from paddle_lab.capture.grad_nodes import LEAF_NAME

NO_NODE = -1


class GradNodeOrder:
    """The recorded backward graphs, ready to be replayed.

    Parameters
    ----------
    names
        Of each grad node.
    edges
        ``(source, target)`` of every gradient handed on, in the order of the source's slots.
    """

    def __init__(self, names: Sequence[str], edges: Iterable[tuple[int, int]]) -> None:
        self._names = names
        self._following: dict[int, list[int]] = {}
        for source, target in edges:
            self._following.setdefault(source, []).append(target)

    def match(self, roots: Sequence[int], runs: Sequence[str]) -> list[int]:
        """Return the grad node of each run of one backward call, -1 where none fits.

        Parameters
        ----------
        roots
            The grad nodes at which the call begins.
        runs
            Names of the grad nodes that ran, in order.
        """
        waiting_for = self._in_degrees(roots)
        ready = deque(dict.fromkeys(roots))
        left: dict[str, dict[int, None]] = {}
        for node in waiting_for:
            left.setdefault(self._names[node], {})[node] = None
        found = []
        for name in runs:
            node = next(
                (node for node in ready if self._names[node] == name and not waiting_for[node]),
                NO_NODE,
            )
            if node != NO_NODE:
                ready.remove(node)
            else:
                node = next(iter(left.get(name, ())), NO_NODE)
            found.append(node)
            if node == NO_NODE:
                continue
            left[name].pop(node, None)
            for target in self._following.get(node, ()):
                waiting_for[target] -= 1
                if waiting_for[target] == 0:
                    if self._names[target] == LEAF_NAME:
                        ready.appendleft(target)
                    else:
                        ready.append(target)
        return found

    def _in_degrees(self, roots: Sequence[int]) -> dict[int, int]:
        """Return how many gradients each reachable node waits for."""
        degrees = dict.fromkeys(roots, 0)
        pending = deque(degrees)
        while pending:
            for target in self._following.get(pending.popleft(), ()):
                if target not in degrees:
                    degrees[target] = 0
                    pending.append(target)
                degrees[target] += 1
        return degrees
