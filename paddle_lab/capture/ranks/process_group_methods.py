"""The methods of Paddle's process groups that communicate, and the positions of their arguments."""

from __future__ import annotations

from typing import Final, NamedTuple


class Method(NamedTuple):
    """The positions of the arguments of a process group's method; -1 if it has no such argument."""

    op: str
    tensor: int = 0
    root: int = -1
    reduce_op: int = -1
    peer: int = -1


METHODS: Final = {
    "all_reduce": Method("all_reduce", reduce_op=1),
    "broadcast": Method("broadcast", root=1),
    "reduce": Method("reduce", root=1, reduce_op=2),
    "all_gather": Method("all_gather", tensor=1),
    "all_gather_into_tensor": Method("all_gather", tensor=1),
    "reduce_scatter": Method("reduce_scatter", reduce_op=2),
    "reduce_scatter_tensor": Method("reduce_scatter", reduce_op=2),
    "scatter": Method("scatter", root=2),
    "scatter_tensor": Method("scatter", root=2),
    "gather": Method("gather", root=2),
    "all_to_all": Method("all_to_all"),
    "all_to_all_tensor": Method("all_to_all"),
    "all_to_all_single": Method("all_to_all"),
    "send": Method("send", peer=1),
    "send_partial": Method("send", peer=1),
    "recv": Method("recv", peer=1),
    "recv_partial": Method("recv", peer=1),
    "barrier": Method("barrier", tensor=-1),
}
ON_CALCULATION_STREAM: Final = "_on_calc_stream"
GIVES_ALL_THE_SAME: Final = frozenset({"all_reduce", "broadcast"})
"""The operations that make their first argument the same on all ranks."""
