"""Which op stands behind the grad nodes that ``paddle.grad(create_graph=True)`` makes in C++.

Running the grad node of op *k* with ``create_graph`` makes further grad nodes: they belong to *k*
as well. A post hook on every node of the graph notes what its run made.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from paddle_lab.capture.grad_fn import GRAD_FN

if TYPE_CHECKING:
    from paddle_lab.capture.recorder import Recorder

_LEAF_NAME = "GradNodeAccumulation"


class DoubleGradWatch:
    """Watches one call of ``paddle.grad`` that makes a graph.

    Parameters
    ----------
    recorder
        Whose graph it becomes part of.
    reached
        Address to (node, op) of the graph that the call is about to run through.
    seeds
        The call's ``grad_outputs``, which may hang on graphs of their own.
    """

    def __init__(
        self, recorder: Recorder, reached: dict[int, tuple[Any, int]], seeds: Iterable[Any]
    ) -> None:
        self._recorder = recorder
        self._before = dict(reached)
        self._before.update(
            recorder.backward.grad_nodes.reach(recorder.backward.grad_nodes_of(list(seeds)))
        )
        self._made_by: dict[int, int] = {}
        self._hooks: list[_Hook] = []
        for node, op in reached.values():
            # Leaves take no post hook (Paddle raises).
            if node.name() != _LEAF_NAME:
                hook = _Hook(self._made_by, op)
                self._hooks.append(hook)
                node._register_post_hook(hook)

    def close(self) -> None:
        """Let the hooks, which live as long as their nodes do, neither do nor hold anything."""
        for hook in self._hooks:
            hook.made_by = None
        self._hooks = []
        self._before = {}
        _empty_returned()

    def attribute(self, result: Any, call_op: int) -> None:
        """Tell the recorder the op of every node that the call made.

        Parameters
        ----------
        result
            What ``paddle.grad`` returned.
        call_op
            The op of the call itself: for nodes that no single grad node's run made, such as the
            sums where gradients meet.
        """
        made: list[tuple[Any, int]] = []
        seen = set(self._before)
        pending = [(node, call_op) for node in self._recorder.backward.grad_nodes_of(result)]
        while pending:
            node, inherited = pending.pop()
            address = node.node_ptr()
            if address in seen:
                continue
            seen.add(address)
            op = -1 if node.name() == _LEAF_NAME else self._made_by.get(address, inherited)
            made.append((node, op))
            pending.extend(
                (following, op) for following in node.next_functions if following is not None
            )
        self._recorder.backward.grad_nodes.hold(made)
        # What the new nodes lead to lives as long as they do.
        self._recorder.backward.grad_nodes.hold(self._before.values())
        self.close()


class _Hook:
    """The post hook of one grad node; notes the grad nodes that running it made.

    Hooks never die: Paddle destroys nodes, and its own copies of them, also where it has let go of
    the interpreter's lock, and the last reference to a Python object must not go there. So a hook
    is as small as can be, and holds nothing once its call is over.
    """

    __slots__ = ("made_by", "op")

    def __init__(self, made_by: dict[int, int], op: int) -> None:
        self.made_by: dict[int, int] | None = made_by
        self.op = op
        _IMMORTAL.append(self)

    def __call__(self, outputs: Any, _inputs: Any) -> list[Any]:
        if self.made_by is not None:  # the node outlives the call where the graph is retained
            _note(outputs, self.op, self.made_by)
        return _in_list_to_empty(outputs)


_IMMORTAL: list[_Hook] = []
_RETURNED = threading.local()


def _note(outputs: Any, op: int, made_by: dict[int, int]) -> None:
    pending = [outputs]
    while pending:
        value = pending.pop()
        if isinstance(value, (list, tuple)):
            pending.extend(value)
        # Anything but this question kills the process where a gradient is undefined.
        elif value is not None and value._is_initialized() and not value.stop_gradient:
            address = GRAD_FN.address(value)
            if address is not None:
                made_by.setdefault(address, op)


def _in_list_to_empty(outputs: Any) -> list[Any]:
    """Return ``outputs`` in a list that is emptied when Paddle has read it.

    Paddle 3.3 never lets go of what a post hook returns: a list that is empty by then costs little.
    It has read one list before it runs the next hook in the same thread.
    """
    _empty_returned()
    _RETURNED.outputs = list(outputs)
    return cast("list[Any]", _RETURNED.outputs)


def _empty_returned() -> None:
    getattr(_RETURNED, "outputs", []).clear()
