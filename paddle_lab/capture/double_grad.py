"""Which op stands behind the grad nodes that ``paddle.grad(create_graph=True)`` makes in C++.

Running the grad node of op *k* with ``create_graph`` makes further grad nodes: they belong to *k*
as well. A post hook on every node of the graph notes what its run made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

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
        self._before.update(recorder.grad_nodes.reach(recorder.grad_nodes_of(list(seeds))))
        self._made_by: dict[int, int] = {}
        self._is_open = True
        for node, op in reached.values():
            # Leaves take no post hook (Paddle raises).
            if node.name() != _LEAF_NAME:
                node._register_post_hook(self._hook_of(op))

    def _hook_of(self, op: int) -> Callable[[Any, Any], Any]:
        def hook(outputs: Any, _inputs: Any) -> Any:
            if not self._is_open:  # the node outlives the call where the graph is retained
                return outputs
            pending = [outputs]
            while pending:
                value = pending.pop()
                if isinstance(value, (list, tuple)):
                    pending.extend(value)
                # Anything but this question kills the process where a gradient is undefined.
                elif value is not None and value._is_initialized() and not value.stop_gradient:
                    address = GRAD_FN.address(value)
                    if address is not None:
                        self._made_by.setdefault(address, op)
            return outputs  # Paddle goes on with what a hook returns

        return hook

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
        self._is_open = False
        made: list[tuple[Any, int]] = []
        seen = set(self._before)
        pending = [(node, call_op) for node in self._recorder.grad_nodes_of(result)]
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
        self._recorder.grad_nodes.hold(made)
        # What the new nodes lead to lives as long as they do.
        self._recorder.grad_nodes.hold(self._before.values())
