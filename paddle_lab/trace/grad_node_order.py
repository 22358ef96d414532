"""Finds which grad node ran in each run, by replaying Paddle's order on the recorded graph.

The profiler records the names of the grad nodes that ran, in order, but several nodes may have the
same name. Paddle runs a node after all nodes that pass it gradients. The node that is ready first
runs first, but accumulation nodes run before all others. If Paddle's order differs (a hook may run
early), the first node with the name that has not run yet is taken.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Sequence

from paddle_lab.trace.trees import Keys, rows_by

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
        self._following = rows_by(sources, targets, len(names))
        """The nodes to which each node passes gradients."""
        self._matched: dict[object, list[int]] = {}
        """Results of earlier matches: for each kind of call, positions among the reached nodes."""

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
        shape, at = self._shape(roots)
        asked = None if wanted is None else tuple(at.get(node, NO_NODE) for node in wanted)
        # In a training loop, each call has an equal graph of other nodes. So results are cached.
        kind = shape, tuple(runs), asked
        if kind not in self._matched:
            found = self._match(roots, runs, wanted)
            self._matched[kind] = [at.get(node, NO_NODE) for node in found]
        nodes = [*at, NO_NODE]
        return [nodes[position] for position in self._matched[kind]]

    def _shape(self, roots: Sequence[int]) -> tuple[tuple[object, ...], dict[int, int]]:
        """Return the shape of the graph below the roots, and the position of each node in it.

        The shape contains positions instead of nodes. So equal graphs have equal shapes.
        """
        at = {node: position for position, node in enumerate(dict.fromkeys(roots))}
        nodes = list(at)
        shape: list[object] = list(map(at.get, roots))
        for node in nodes:  # the list grows in this loop: first found, first visited
            shape.append(self._names[node])
            for target in self._following(node):
                if target not in at:
                    at[target] = len(nodes)
                    nodes.append(target)
                shape.append(at[target])
        return tuple(shape), at

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
