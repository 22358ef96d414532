"""Statistics of every gradient in a backward pass: ``grad_stats`` and ``grad_histograms``."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.capture.evidence.collector import Collector, Forgotten
from paddle_lab.capture.evidence.gradients.kept_values import GradientValues, Kept
from paddle_lab.capture.evidence.gradients.list_slots import takes_post_hook
from paddle_lab.capture.evidence.gradients.post_hooks import BackwardWatch, Edges, HookedNode
from paddle_lab.capture.evidence.gradients.starts import NO_EDGE, starts
from paddle_lab.capture.evidence.values.scan import Scanned
from paddle_lab.capture.evidence.values.statistics import (
    look_at,
    statistic_cells,
    statistics,
)
from paddle_lab.capture.recorder.dtypes import describe
from paddle_lab.capture.rows.cells import EDGE_CELLS
from paddle_lab.capture.rows.tape import rows_of
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.grad_node_order import LEAF_NAME
from paddle_lab.trace.table import StringPool, TableBuilder

if TYPE_CHECKING:
    from paddle_lab.capture.backward_graph.grad_nodes import Reached
    from paddle_lab.capture.recorder.recorder import Recorder


_Gradient = tuple[int, int, int, tuple[int, ...], Any, int, Scanned, Kept]
"""Backward call, grad node, edge, the cells of :data:`Seen`, and the gradient if it is kept."""


class Gradients(Collector):
    """Fills the tables ``grad_stats`` and ``grad_histograms``.

    Parameters
    ----------
    recorder
        The recorder that reports backward calls.
    values_of
        The region whose gradients are kept as arrays, ``None`` for none.
    with_histogram
        Whether to compute also histograms.
    decimals
        To how many decimals gradients are rounded for their digests; ``None`` for no digests.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        values_of: str | None = None,
        with_histogram: bool = True,
        decimals: int | None = None,
    ) -> None:
        self._with_histogram = with_histogram
        self._decimals = decimals
        self._recorder = recorder
        self._values = GradientValues(recorder, values_of) if values_of is not None else None
        self._rows: list[_Gradient] = []
        self._edges: dict[int, Edges] = {}
        self._indexed = 0
        self._watches: list[BackwardWatch] = []

    def open(self) -> None:
        """Start to put hooks on the nodes of backward calls."""
        self._recorder.on_backward = self.watch

    def close(self) -> None:
        """Remove all hooks, and stop."""
        self._recorder.on_backward = None
        for watch in self._watches:
            watch.close()
        self._watches.clear()

    def watch(self, backward_call: int, reached: Reached, roots: tuple[Any, Any]) -> BackwardWatch:
        """Put hooks on the nodes that a backward call reaches. The caller closes the watch.

        Parameters
        ----------
        roots
            The tensors on which backward is called, and the gradients with which it begins.
        """
        rows, values = self._rows, self._values
        begun: list[int] = []
        with_histogram, decimals = self._with_histogram, self._decimals
        for tensor, seen in starts(*roots, decimals):
            root = self._recorder.backward.node_of(tensor)
            if root >= 0:
                rows.append((backward_call, root, NO_EDGE, *seen, []))
                begun.append(root)

        def take(node: int, edge: int, gradient: Any) -> None:
            seen = look_at(gradient, with_histogram=with_histogram, decimals=decimals)
            if seen is not None:
                kept = [] if values is None else values.copy(node, gradient)
                rows.append((backward_call, node, edge, *seen, kept))

        watch = BackwardWatch(take, self._recorder.abandon)
        self._watches = [other for other in self._watches if other.is_open]
        self._watches.append(watch)
        try:
            self._hook_all(watch, reached, begun)
        except BaseException:
            watch.close()
            raise
        return watch

    def _hook_all(self, watch: BackwardWatch, reached: Reached, begun: list[int]) -> None:
        self._index_edges()
        backward = self._recorder.backward
        pool = backward.grad_nodes
        hooked: dict[int, Any] = {}
        unhooked: list[int] = []
        for address, (node, op) in reached.items():
            key = pool.key_of(address, op)
            if takes_post_hook(pool.name_of(key), backward.slots_of(op)):
                hooked[key] = node
            else:
                unhooked.append(key)
        if self._values is not None:
            self._values.choose([*hooked, *unhooked])
        arriving = self._single_arrivals([*hooked, *unhooked], unhooked, begun)
        for key, node in hooked.items():
            watch.hook(HookedNode(key, node, self._edges.get(key, []), arriving.pop(key, None)))
        if arriving:
            self._hook_leaves(watch, arriving)

    def _single_arrivals(
        self, nodes: list[int], unhooked: list[int], begun: list[int]
    ) -> dict[int, tuple[int, int]]:
        """Return nodes that get only one gradient, from an unhooked node, with node and edge."""
        if not unhooked:
            return {}
        edge_of = self._recorder.backward.grad_nodes.edge
        targets = {
            edge: edge_of(edge)[1] for node in nodes for _, edge in self._edges.get(node, ())
        }
        # Count also the gradients with which the call begins.
        arrivals = Counter([*targets.values(), *begun])
        return {
            targets[edge]: (source, edge)
            for source in unhooked
            for _, edge in self._edges.get(source, ())
            if arrivals[targets[edge]] == 1
        }

    def _hook_leaves(self, watch: BackwardWatch, waiting: dict[int, tuple[int, int]]) -> None:
        """Put hooks on the tensors of leaves that are still alive."""
        backward = self._recorder.backward
        rows = {
            backward.leaf_tensors[key]: told
            for key, told in waiting.items()
            if backward.grad_nodes.name_of(key) == LEAF_NAME and key in backward.leaf_tensors
        }
        for tensor, row in self._recorder.tensors.living() if rows else ():
            if row in rows and not tensor.stop_gradient:
                watch.hook_leaf(tensor, *rows[row])

    def _index_edges(self) -> None:
        edges = self._recorder.backward.grad_nodes.edges
        for edge, source, _, slot, _ in rows_of(edges, EDGE_CELLS, self._indexed):
            self._edges.setdefault(source, []).append((slot, edge))
        self._indexed = len(edges) // EDGE_CELLS

    def forget(self, gone: Forgotten) -> None:
        """Drop the gradients of backward calls and grad nodes that are not kept."""
        # Open watches append to this list, so replace its contents, not the list.
        self._rows[:] = [
            row
            for row in self._rows
            if row[0] not in gone.backward_calls and row[1] not in gone.grad_nodes
        ]
        # Build the index of edges again, from the first edge that is kept.
        self._edges.clear()
        self._indexed = self._recorder.backward.grad_nodes.edges.start // EDGE_CELLS

    def add_rows(
        self, builders: dict[str, TableBuilder], strings: StringPool, keys: RecordKeys
    ) -> None:
        """Fill ``grad_stats`` and ``grad_histograms``, in the order of the backward passes."""
        noted = np.array([row[:3] for row in self._rows], np.int64).reshape(-1, 3).T
        places = zip(
            keys.backward_calls.rows(noted[0]).tolist(),
            keys.grad_nodes.rows(noted[1]).tolist(),
            keys.grad_edges.rows(noted[2]).tolist(),
            strict=True,
        )
        cells = statistic_cells([statistics(row[3:7]) for row in self._rows])
        histograms = builders["grad_histograms"]
        for row, place, numbers in zip(self._rows, places, cells, strict=True):
            *_, shape, dtype, _, scanned, kept = row
            key = builders["grad_stats"].append(
                *place,
                strings["[" + ", ".join(map(str, shape)) + "]"],
                strings[describe(dtype)[0]],
                *numbers,
            )
            if scanned[9] is not None:
                builders["grad_digests"].append(key, scanned[9], self._decimals or 0)
            if kept:
                self._recorder.grad_values[key] = kept[0]
            if scanned[7]:
                counts = np.frombuffer(scanned[7], np.int64).reshape(-1, 3)
                histograms.append_cells(np.insert(counts, 0, key, axis=1).ravel().tolist())
        sizes_bytes = [value.nbytes for value in self._recorder.grad_values.values()]
        if self._values is not None and sizes_bytes:
            sys.stderr.write(self._values.kept_notice(sizes_bytes) + "\n")
