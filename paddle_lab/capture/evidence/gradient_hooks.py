"""Post hooks on the grad nodes of one backward call, for as long as the call runs.

Paddle 3.3 asks for care. What a hook returns stands for the node's gradients and leaks a reference:
so all hooks of a call return one and the same list, which is emptied in the end. A hook that C++
frees without the interpreter lock aborts the process: so each is removed when the call ends, and
its node is held until then. An undefined gradient kills the process if anything is asked of it:
nothing is, but whether it is initialized. Some nodes take no hook (:mod:`.list_slots`); what they
hand on is looked at where it arrives, if nothing else arrives there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from paddle_lab.capture.backward_graphs import flat

NO_EDGE = -1

Edges = list[tuple[int, int]]
"""Of one grad node: slot among its next functions, and the edge there."""
Take = Callable[[int, int, Any], None]
"""Called with a grad node, an edge or :data:`NO_EDGE`, and a gradient that may be undefined."""


class HookedNode(NamedTuple):
    """A grad node to hook, and what is to be looked at there."""

    key: int
    node: Any
    edges: Edges
    arriving: tuple[int, int] | None
    """Source and edge of the only gradient that arrives, where the source takes no hook; for a root
    the node itself and :data:`NO_EDGE`."""


class BackwardWatch:
    """What gradients pass during one backward call.

    Parameters
    ----------
    take
        Called with every gradient.
    fail
        Called with what went wrong in here, instead of raising it into the backward pass.
    """

    def __init__(self, take: Take, fail: Callable[[Exception], None]) -> None:
        self._take = take
        self._fail = fail
        self._returned: list[Any] = []
        self._handles: list[Any] = []
        self._hooks: list[Any] = []
        self._leaf_hooks: list[tuple[Any, int]] = []

    @property
    def is_open(self) -> bool:
        """Whether there are hooks to remove."""
        return bool(self._handles or self._leaf_hooks)

    def hook(self, hooked: HookedNode) -> None:
        """Look at the gradients that a node hands on from now on."""
        hook = self._post_hook(hooked)
        self._hooks.append(hook)
        self._handles.append(hooked.node._register_post_hook(hook))

    def hook_leaf(self, tensor: Any, source: int, edge: int) -> None:
        """Look at the gradient that arrives at a leaf, before it is accumulated."""

        def hook(gradient: Any) -> None:
            try:
                self._take(source, edge, gradient)
            except Exception as fault:  # noqa: BLE001  (the user's backward pass goes on)
                self._fail(fault)

        self._leaf_hooks.append((tensor, tensor._register_grad_hook(hook)))

    def close(self) -> None:
        """Remove every hook."""
        handles, self._handles = self._handles, []
        for handle in handles:
            handle.remove()
        leaf_hooks, self._leaf_hooks = self._leaf_hooks, []
        for tensor, hook in leaf_hooks:
            tensor._remove_grad_hook(hook)
        self._hooks.clear()
        self._returned.clear()

    def _post_hook(self, hooked: HookedNode) -> Callable[[list[Any], list[Any]], list[Any]]:
        take, fail, returned = self._take, self._fail, self._returned
        key, node, edges, arriving = hooked

        def hook(outputs: list[Any], inputs: list[Any]) -> list[Any]:
            try:
                if arriving is not None:
                    arrived = [tensor for tensor in flat(inputs) if tensor._is_initialized()]
                    if len(arrived) == 1:
                        take(*arriving, arrived[0])
                if len(edges) == len(outputs):
                    for (_, edge), gradient in zip(edges, outputs, strict=True):
                        take(key, edge, gradient)
                else:
                    for edge, gradient in _aligned(node, edges, outputs):
                        take(key, edge, gradient)
            except Exception as fault:  # noqa: BLE001  (the user's backward pass goes on)
                fail(fault)
            returned[:] = outputs
            return returned

        return hook


def _aligned(node: Any, edges: Edges, outputs: list[Any]) -> list[tuple[int, Any]]:
    """Tell which gradient passes which edge, where some have none.

    A node's next functions leave out slots that have no gradient by nature (an index, a mask), and
    are ``None`` for inputs that stop gradients; its outputs are undefined at both.
    """
    functions = len(node.next_functions)
    if functions == len(outputs):
        return [(edge, outputs[slot]) for slot, edge in edges]
    defined = [tensor for tensor in outputs if tensor._is_initialized()]
    if len(defined) == len(edges):
        return [(edge, tensor) for (_, edge), tensor in zip(edges, defined, strict=True)]
    if len(defined) == functions:
        return [(edge, defined[slot]) for slot, edge in edges]
    return []
