"""Finds which grad node ran in each run, by replaying Paddle's order on the recorded graph.

The profiler records the names of the grad nodes that ran, in order, but several nodes may have the
same name. Paddle runs a node after all nodes that pass it gradients. The node that is ready first
runs first, but accumulation nodes run before all others. If Paddle's order differs (a hook may run
early), the first node with the name that has not run yet is taken.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.trees import Keys, Rows, csr

NO_NODE = -1
LEAF_NAME = "GradNodeAccumulation"
"""The name of the grad nodes that accumulate the gradient of a leaf."""


class GradNodeOrder:
    """The recorded backward graphs, prepared for replays of Paddle's order.

    Parameters
    ----------
    names
        The name of each grad node.
    sources, targets
        The edges along which gradients flow, in the order of the source's slots; shape ``[edges]``.
    """

    def __init__(self, names: Sequence[str], sources: Keys, targets: Keys) -> None:
        self._names = names
        self._starts, order = csr(sources, len(names))
        self._targets = targets[order]
        starts, all_targets = self._starts.tolist(), self._targets.tolist()
        self._following: Rows = lambda node: all_targets[starts[node] : starts[node + 1]]
        """The nodes to which each node passes gradients."""
        furthest = np.maximum.accumulate(np.append(NO_NODE, self._targets))[self._starts]
        self._borders = np.flatnonzero(furthest < np.arange(len(names) + 1))
        """Where no earlier node passes gradients to a later one: between the walks of two calls."""
        self._matched: dict[object, npt.NDArray[Any]] = {}
        """Results of earlier matches, for each kind of call; see :meth:`match`."""

    def match(
        self, roots: Sequence[int], runs: Sequence[str], *, wanted: Sequence[int] | None = None
    ) -> list[int]:
        """Return the grad node of each run in one backward call, -1 if no node fits.

        Parameters
        ----------
        roots
            The grad nodes at which the call begins.
        runs
            Names of the grad nodes that ran, in order.
        wanted
            The nodes whose incoming gradients ``paddle.grad`` returns. Only the nodes on the way to
            them run. ``None`` if all nodes run.
        """
        if not roots:
            return [NO_NODE] * len(runs)
        after = np.searchsorted(self._borders, (min(roots), max(roots)), side="right")
        first, last = int(self._borders[after[0] - 1]), int(self._borders[after[1]])
        # In a training loop, each call has an equal graph of other nodes. So results are cached.
        # Nodes before ``first`` lead only to nodes before ``first``, so they are part of the key.
        starts = self._starts[first : last + 1]
        kind = (
            tuple(self._names[first:last]),
            (starts - starts[0]).tobytes(),
            _placed(self._targets[starts[0] : starts[-1]], first).tobytes(),
            _placed(roots, first).tobytes(),
            None if wanted is None else _placed(wanted, first).tobytes(),
            tuple(runs),
        )
        if kind not in self._matched:
            self._matched[kind] = _placed(self._match(roots, runs, wanted), first)
        found = self._matched[kind]
        nodes: list[int] = np.where(found < 0, -2 - found, found + first).tolist()
        return nodes

    def _match(
        self, roots: Sequence[int], runs: Sequence[str], wanted: Sequence[int] | None
    ) -> list[int]:
        names = self._names
        waiting_for, running, ready = self._begin(roots, wanted)
        left: dict[str, dict[int, None]] = {}
        found: list[int] = []
        for name in runs:
            for node in ready:
                if names[node] == name:
                    ready.remove(node)
                    break
            else:
                left = left or self._by_name(running, set(found))  # rarely needed
                node = next(iter(left.get(name, ())), NO_NODE)
            found.append(node)
            left.get(name, {}).pop(node, None)
            if node != NO_NODE:
                self._pass_on(node, waiting_for, running, ready)
        return found

    def replay(self, roots: Sequence[int], *, wanted: Sequence[int] | None = None) -> list[int]:
        """Return the grad nodes of one backward call in the order in which Paddle runs them."""
        waiting_for, running, ready = self._begin(roots, wanted)
        found: list[int] = []
        while ready:
            node = ready.popleft()
            found.append(node)
            self._pass_on(node, waiting_for, running, ready)
        return found

    def _begin(
        self, roots: Sequence[int], wanted: Sequence[int] | None
    ) -> tuple[dict[int, int], Collection[int], deque[int]]:
        """Return how many gradients each node waits for, which nodes run, and which are ready."""
        waiting_for = self._in_degrees(roots)
        running: Collection[int] = waiting_for
        if wanted is not None:
            running = dict.fromkeys(self._leading_to(wanted, waiting_for))
        return waiting_for, running, deque(node for node in running if not waiting_for[node])

    def _pass_on(
        self, node: int, waiting_for: dict[int, int], running: Collection[int], ready: deque[int]
    ) -> None:
        for target in self._following(node):
            waiting_for[target] -= 1
            if not waiting_for[target] and target in running:
                add = ready.appendleft if self._names[target] == LEAF_NAME else ready.append
                add(target)

    def _by_name(self, nodes: Iterable[int], without: set[int]) -> dict[str, dict[int, None]]:
        """Return the nodes by name, in order, without those in ``without``."""
        found: defaultdict[str, dict[int, None]] = defaultdict(dict)
        for node in nodes:
            if node not in without:
                found[self._names[node]][node] = None
        return found

    def _leading_to(self, wanted: Sequence[int], nodes: Collection[int]) -> list[int]:
        """Return the nodes that must run so that gradients reach the nodes ``wanted``."""
        sources: defaultdict[int, list[int]] = defaultdict(list)
        for node in nodes:
            for target in self._following(node):
                sources[target].append(node)
        # The gradient of an op's output is read before the op's grad node runs, so this node need
        # not run. The grad node of a leaf must run.
        found = {node for node in wanted if self._names[node] == LEAF_NAME}
        pending = list(wanted)
        while pending:
            fresh = set(sources[pending.pop()]) - found
            found |= fresh
            pending += fresh
        return [node for node in nodes if node in found]

    def _in_degrees(self, roots: Sequence[int]) -> dict[int, int]:
        """Return how many gradients each reachable node waits for."""
        degrees = dict.fromkeys(roots, 0)
        pending = list(degrees)
        for node in pending:  # the list grows in this loop: first found, first visited
            for target in self._following(node):
                if target not in degrees:
                    degrees[target] = 0
                    pending.append(target)
                degrees[target] += 1
        return degrees


def _placed(nodes: Sequence[int] | Keys, first: int) -> npt.NDArray[Any]:
    """Return positions after the node ``first``; for an earlier node -2 minus the node."""
    numbers = np.asarray(nodes, np.int64)
    return np.where(numbers < first, -2 - numbers, numbers - first)
