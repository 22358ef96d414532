"""Forgetting backward graphs: those of backward calls that a trace does not keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paddle_lab.capture.rows.cells import EDGE_CELLS, NODE_CELLS, ROOT_CELLS
from paddle_lab.capture.rows.tape import cells_of

if TYPE_CHECKING:
    from paddle_lab.capture.limit.kept_ops import KeptOps
    from paddle_lab.capture.limit.spans import Keys, Mask
    from paddle_lab.capture.recorder.recorder import Recorder


def forget_graphs(recorder: Recorder, kept: KeptOps) -> tuple[list[int], list[int]]:
    """Forget backward calls, and grad nodes that no other call reaches and no kept op made.

    Returns
    -------
    backward_calls, grad_nodes
        The keys of those that are gone.
    """
    calls = recorder.backward_calls
    keeps = kept.backward_calls(call[4] for call in calls)
    gone = [call[0] for call, is_kept in zip(calls, keeps, strict=False) if not is_kept]
    calls[: len(keeps)] = [call for call, is_kept in zip(calls, keeps, strict=False) if is_kept]
    stops = recorder.backward.stops
    stops[:] = [stop for stop in stops if stop[0] not in gone]
    pool = recorder.backward.grad_nodes
    nodes = cells_of(pool.rows).reshape(-1, NODE_CELLS)
    edges = cells_of(pool.edges).reshape(-1, EDGE_CELLS)
    roots = cells_of(pool.roots).reshape(-1, ROOT_CELLS)
    targets = cells_of(pool.targets).reshape(-1, ROOT_CELLS)
    is_kept_root = ~np.isin(roots[:, 0], gone)
    begin = np.isin(nodes[:, 0], roots[is_kept_root, 1]) | np.isin(nodes[:, 3], kept.keys)
    is_kept_node = _reached(nodes[:, 0], edges[:, 1], edges[:, 2], begin)
    kept_nodes = nodes[is_kept_node, 0]
    is_kept_edge = np.isin(edges[:, 1], kept_nodes)
    pool.forget(
        nodes[is_kept_node],
        edges[is_kept_edge],
        roots[is_kept_root],
        targets[~np.isin(targets[:, 0], gone)],
        gone=nodes[~is_kept_node],
    )
    pool.forget_held(frozenset(kept.forgotten.tolist()))
    return gone, nodes[~is_kept_node, 0].tolist()


def _reached(nodes: Keys, sources: Keys, targets: Keys, begin: Mask) -> Mask:
    """Tell the nodes that can be reached from some.

    Parameters
    ----------
    nodes
        Their keys.
    sources, targets
        Keys of nodes, of each edge.
    begin
        Whether the walk begins at a node, by position in ``nodes``.
    """
    by_key = np.argsort(nodes)
    source, target = (by_key[np.searchsorted(nodes[by_key], keys)] for keys in (sources, targets))
    order = np.argsort(source, kind="stable")
    target = target[order]
    starts = np.searchsorted(source[order], np.arange(len(nodes) + 1))
    reached = begin.copy()
    fresh = np.flatnonzero(begin)
    while len(fresh):
        counts = starts[fresh + 1] - starts[fresh]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        following = target[np.repeat(starts[fresh], counts) + within]
        fresh = np.unique(following[~reached[following]])
        reached[fresh] = True
    return reached
