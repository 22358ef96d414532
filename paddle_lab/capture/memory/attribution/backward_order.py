"""Which grad node is which run: Paddle's order of execution, replayed over the recorded graph.

The profiler tells the names of the grad nodes that ran, in order; names repeat. Paddle runs a node
when all who hand it gradients have run, first come first served, accumulation nodes before all
others. Replaying that, each name has one place it can belong to. Where Paddle's order is another
(a hook that runs early, a part of the graph that ``paddle.grad`` leaves out), the name still
chooses among the nodes that may run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Sequence
from itertools import pairwise

import numpy as np

from paddle_lab.capture.backward_graph.grad_nodes import LEAF_NAME
from paddle_lab.capture.memory.log.events import Int64s

NO_NODE = -1


class GradNodeOrder:
    """The recorded backward graphs, ready to be replayed.

    Parameters
    ----------
    names
        Of each grad node.
    sources, targets
        Of every gradient handed on, in the order of the source's slots; shape ``[edges]``.
    """

    def __init__(self, names: Sequence[str], sources: Int64s, targets: Int64s) -> None:
        self._names = names
        self._sources: dict[int, list[int]] | None = None
        order = np.argsort(sources, kind="stable")
        ordered: list[int] = targets[order].tolist()
        starts = np.searchsorted(sources[order], np.arange(len(names) + 1)).tolist()
        self._following = [ordered[start:end] for start, end in pairwise(starts)]
        """The nodes to which each hands gradients."""

    def match(
        self, roots: Sequence[int], runs: Sequence[str], *, wanted: Sequence[int] | None = None
    ) -> list[int]:
        """Return the grad node of each run of one backward call, -1 where none fits.

        Parameters
        ----------
        roots
            The grad nodes at which the call begins.
        runs
            Names of the grad nodes that ran, in order.
        wanted
            The nodes whose incoming gradients ``paddle.grad`` returns: only what leads to them
            runs. ``None`` where all do.
        """
        waiting_for = self._in_degrees(roots)
        runs_at_all = waiting_for.keys() if wanted is None else self._leading_to(wanted)
        ready = deque(node for node in dict.fromkeys(roots) if node in runs_at_all)
        names, following = self._names, self._following
        left: dict[str, dict[int, None]] | None = None
        found: list[int] = []
        for name in runs:
            for node in ready:
                if names[node] == name and not waiting_for[node]:
                    ready.remove(node)
                    break
            else:
                if left is None:  # which is seldom needed
                    left = self._by_name(waiting_for, runs_at_all, found)
                node = next(iter(left.get(name, ())), NO_NODE)
            found.append(node)
            if node == NO_NODE:
                continue
            if left is not None:
                left[name].pop(node, None)
            for target in following[node]:
                waiting_for[target] -= 1
                if waiting_for[target] == 0 and target in runs_at_all:
                    if names[target] == LEAF_NAME:
                        ready.appendleft(target)
                    else:
                        ready.append(target)
        return found

    def _by_name(
        self, nodes: Iterable[int], runs_at_all: Container[int], found: Iterable[int]
    ) -> dict[str, dict[int, None]]:
        """Return the nodes that have not run yet, in their order, by name."""
        have_run = frozenset(found)
        left: dict[str, dict[int, None]] = {}
        for node in nodes:
            if node in runs_at_all:
                of_name = left.setdefault(self._names[node], {})
                if node not in have_run:
                    of_name[node] = None
        return left

    def _leading_to(self, wanted: Sequence[int]) -> set[int]:
        """Return the nodes that run so that gradients reach ``wanted``."""
        if self._sources is None:
            self._sources = {}
            for source, targets in enumerate(self._following):
                for target in targets:
                    self._sources.setdefault(target, []).append(source)
        # A node of an op is where its gradient is taken; that of a leaf runs, too.
        found = {node for node in wanted if self._names[node] == LEAF_NAME}
        pending = list(wanted)
        while pending:
            for source in self._sources.get(pending.pop(), ()):
                if source not in found:
                    found.add(source)
                    pending.append(source)
        return found

    def _in_degrees(self, roots: Sequence[int]) -> dict[int, int]:
        """Return how many gradients each reachable node waits for."""
        degrees = dict.fromkeys(roots, 0)
        pending = list(degrees)
        following = self._following
        # It grows while it is walked: first come, first served.
        for node in pending:
            for target in following[node]:
                if target in degrees:
                    degrees[target] += 1
                else:
                    degrees[target] = 1
                    pending.append(target)
        return degrees
