"""Post hooks on the grad nodes of one backward call, while the call runs.

Paddle 3.3 has several traps:

- The result of a hook replaces the node's gradients, and leaks a reference. So all hooks of a call
return the same list, which is emptied at the end.
- If C++ frees a hook without the GIL, the process aborts. So each hook is removed when the call
ends, and its node is kept alive until then.
- A failed ``paddle.grad`` leaves copies of nodes with their hooks, which Paddle drops in a later
call. So a hook that C++ still refers to is cleared, and kept alive until C++ drops it.
- Any access to an undefined gradient kills the process, except the test whether it is initialized.
- Some nodes must not get a hook (:mod:`.list_slots`). Their gradients are read at the next node, if
that node gets no other gradient and does not overwrite this one. Most elementwise nodes overwrite a
gradient to which nothing else refers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from paddle_lab.capture.backward_graph.graphs import flat
from paddle_lab.capture.door import DOOR

Edges = list[tuple[int, int]]
"""For one grad node: pairs of a slot among the next functions, and the edge at this slot."""
Take = Callable[[int, int, Any], None]
"""Called with a grad node, an edge, and a gradient that may be undefined."""


_ALIKE = frozenset(
    f"{name}GradNode"
    for name in ("Add", "Assign", "Flatten", "Reshape", "Squeeze", "Subtract", "Transpose",
                 "Unsqueeze", "View")
)  # fmt: skip
"""Nodes that pass their gradient on unchanged, in the same memory."""

_PARKED: list[PostHook] = []
"""Hooks of ended calls that C++ may still hold."""
_OWN_REFERENCES = 3
"""References to a hook that only the list holds: the list, the loop, ``getrefcount``."""


class HookedNode(NamedTuple):
    """A grad node that gets a hook, and the edges along which its gradients flow."""

    key: int
    node: Any
    edges: Edges
    arriving: tuple[int, int] | None
    """Source and edge of the only gradient that arrives, if the source node takes no hook."""


class BackwardWatch:
    """The hooks of a backward call.

    Parameters
    ----------
    take
        Is called with every gradient.
    fail
        Is called with an exception of a hook. The exception does not reach the backward pass.
    """

    def __init__(self, take: Take, fail: Callable[[Exception], None]) -> None:
        self.take = take
        self.fail = fail
        self.returned: list[Any] = []
        """The list that all hooks of the call return."""
        self._handles: list[Any] = []
        self._hooks: list[PostHook] = []
        self._leaf_hooks: list[tuple[Any, int]] = []

    @property
    def is_open(self) -> bool:
        """Whether some hooks were not removed yet."""
        return bool(self._handles or self._leaf_hooks)

    def hook(self, hooked: HookedNode) -> None:
        """Put a hook on a node, to read the gradients that it passes on."""
        hook = PostHook(hooked, self)
        self._hooks.append(hook)
        self._handles.append(DOOR.register_post_hook(hooked.node, hook))

    def hook_leaf(self, tensor: Any, source: int, edge: int) -> None:
        """Put a hook on a leaf, to read its incoming gradient before it is accumulated."""

        def hook(gradient: Any) -> None:
            try:
                self.take(source, edge, gradient)
            except Exception as fault:  # noqa: BLE001  (the user's backward pass goes on)
                self.fail(fault)

        self._leaf_hooks.append((tensor, DOOR.register_grad_hook(tensor, hook)))

    def close(self) -> None:
        """Remove all hooks."""
        handles, self._handles = self._handles, []
        for handle in handles:
            handle.remove()
        leaf_hooks, self._leaf_hooks = self._leaf_hooks, []
        for tensor, handle in leaf_hooks:
            DOOR.remove_grad_hook(tensor, handle)
        _park(self._hooks)
        self._hooks.clear()
        self.returned.clear()
        _let_go()


class PostHook:
    """A hook that a grad node calls after it has run.

    Parameters
    ----------
    hooked
        The node.
    watch
        The watch of the backward call.
    """

    __slots__ = ("looks_at",)

    def __init__(self, hooked: HookedNode, watch: BackwardWatch) -> None:
        self.looks_at: tuple[HookedNode, BackwardWatch] | None = hooked, watch
        """None after the call has ended, when C++ may still hold the hook."""

    def __call__(self, outputs: list[Any], inputs: list[Any]) -> list[Any]:
        """Read the node's incoming and outgoing gradients. Do not change them."""
        if self.looks_at is None:
            return outputs
        hooked, watch = self.looks_at
        try:
            _look(hooked, watch.take, outputs, inputs)
        except Exception as fault:  # noqa: BLE001  (the user's backward pass goes on)
            watch.fail(fault)
        watch.returned[:] = outputs
        return watch.returned


def _park(hooks: list[PostHook]) -> None:
    for hook in hooks:
        hook.looks_at = None
    _PARKED.extend(hooks)


def _let_go() -> None:
    """Drop parked hooks to which C++ no longer refers."""
    # Not inside _park(), because its loop variable would be another reference to the last hook.
    _PARKED[:] = [hook for hook in _PARKED if sys.getrefcount(hook) > _OWN_REFERENCES]


def _look(hooked: HookedNode, take: Take, outputs: list[Any], inputs: list[Any]) -> None:
    key, node, edges, arriving = hooked
    if arriving is not None:
        arrived = [tensor for tensor in flat(inputs) if DOOR.is_initialized(tensor)]
        if len(arrived) == 1 and not _is_written_over(node, arrived[0], outputs):
            take(*arriving, arrived[0])
    if len(edges) == len(outputs):
        for (_, edge), gradient in zip(edges, outputs, strict=True):
            take(key, edge, gradient)
    else:
        for edge, gradient in _aligned(node, edges, outputs):
            take(key, edge, gradient)


def _is_written_over(node: Any, arrived: Any, outputs: list[Any]) -> bool:
    """Tell whether a grad node has overwritten its incoming gradient."""
    if node.name() in _ALIKE or not DOOR.is_dense(arrived):
        return False
    made = [
        tensor for tensor in flat(outputs) if DOOR.is_initialized(tensor) and DOOR.is_dense(tensor)
    ]
    return any(DOOR.shares_buffer(arrived, tensor) for tensor in made)


def _aligned(node: Any, edges: Edges, outputs: list[Any]) -> list[tuple[int, Any]]:
    """Match gradients with edges if some slots have no gradient.

    The next functions of a node omit slots that can never have a gradient (an index, a mask), and
    are ``None`` for inputs that stop gradients. The node's output is undefined in both cases.
    """
    functions = len(DOOR.next_functions(node))
    if functions == len(outputs):
        return [(edge, outputs[slot]) for slot, edge in edges]
    defined = [tensor for tensor in outputs if DOOR.is_initialized(tensor)]
    if len(defined) == len(edges):
        return [(edge, tensor) for (_, edge), tensor in zip(edges, defined, strict=True)]
    if len(defined) == functions:
        return [(edge, defined[slot]) for slot, edge in edges]
    return []
