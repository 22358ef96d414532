"""The living tensors, the storages that they share, and the names that refer to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.grad_fn import GRAD_FN
from paddle_lab.capture.memory.log.events import PLACES
from paddle_lab.capture.memory.static_scopes import global_scope, in_scopes
from paddle_lab.capture.recorder.recorder import SINKS
from paddle_lab.holders.living import BackwardGraph, LivingTensor
from paddle_lab.holders.references import is_a
from paddle_lab.holders.search import HolderSearch, Holding

_MOST_NODES = 300_000
"""The most grad nodes that are visited. The graphs of the user's own variables come first."""
_MOST_NAMES = 8
"""The most names of tensors that are kept for each node."""


class LivingTensors(HolderSearch):
    """The search for living tensors that can be reached from names.

    Parameters
    ----------
    excluded, excluded_types
        As for :class:`~paddle_lab.holders.search.HolderSearch`.

    Raises
    ------
    PaddleUnavailableError
        If there is no Paddle.
    """

    def __init__(
        self,
        *,
        excluded: Iterable[Any] = (),
        excluded_types: Callable[[type], bool] = lambda _kind: False,
    ) -> None:
        paddle = require_paddle()
        if not SINKS.active:  # an open trace would record the op; then the answer is known anyway
            GRAD_FN.find_out(paddle)
        scope = global_scope()
        self._tensor_type: type = paddle.Tensor
        sought = (self._tensor_type, type(scope.value))
        super().__init__(
            lambda kind: issubclass(kind, sought), excluded=excluded, excluded_types=excluded_types
        )
        self.walk([scope])

    def tensors(self) -> list[LivingTensor]:
        """Return one row for each reference to a tensor.

        There are also rows for gradients, and for the tensors in a static ``Scope``.
        """
        living: list[LivingTensor] = []
        for holding in self._of_tensors():
            tensor, kind = holding.target, holding.kind
            if not _has_storage(tensor):
                continue
            living.append(_living(kind, holding, tensor))
            grad = tensor.grad
            if grad is not None and _has_storage(grad):
                kind = "container" if kind == "variable" else kind
                living.append(_living(kind, holding, grad, suffix=".grad"))
        tensor_type = self._tensor_type
        scopes = [one for one in self.holdings if not is_a(one.target, tensor_type)]
        return [*living, *in_scopes(scopes)]

    def _of_tensors(self) -> list[Holding]:
        if not DOOR.has("storages"):
            return []
        return [one for one in self.holdings if is_a(one.target, self._tensor_type)]

    def backward_graphs(self) -> list[BackwardGraph]:
        """Return the backward graphs that living tensors keep alive, grouped by these tensors."""
        following: dict[int, list[int]] = {}
        leading: dict[int, list[str]] = {}
        for holding in self._of_tensors():
            tensor = holding.target
            if len(following) >= _MOST_NODES:
                break
            if _has_storage(tensor) and not tensor.stop_gradient and not tensor.is_leaf:
                root = GRAD_FN.node(tensor)
                if root is not None:
                    _read_graph(root, following)
                    _lead(holding.name, DOOR.node_address(root), following, leading)
        parts: dict[tuple[str, ...], set[int]] = {}
        for node, names in leading.items():
            parts.setdefault(tuple(names), set()).add(node)
        return [BackwardGraph(list(names), nodes) for names, nodes in parts.items()]


def _has_storage(tensor: Any) -> bool:
    # Reading the address of a sparse or an undefined tensor would kill the process.
    is_stored = DOOR.is_initialized(tensor) and DOOR.is_dense(tensor)
    return bool(is_stored and DOOR.storage_bytes(tensor) > 0)


def _living(kind: str, holding: Holding, tensor: Any, *, suffix: str = "") -> LivingTensor:
    return LivingTensor(
        kind=kind,
        name=holding.name + suffix,
        root=holding.root,
        address=int(tensor.data_ptr()) - int(DOOR.storage_offset(tensor)),
        storage_bytes=int(DOOR.storage_bytes(tensor)),
        bytes=int(tensor.size) * int(tensor.element_size()),
        place=_place(tensor),
    )


def _place(tensor: Any) -> str:
    return PLACES.name(PLACES.number(str(tensor.place)))


def _read_graph(root: Any, following: dict[int, list[int]]) -> None:
    """For each node reachable from ``root``, note its next nodes' addresses in ``following``."""
    ahead = [root]
    while ahead:
        node = ahead.pop()
        address = DOOR.node_address(node)
        if address not in following:
            nodes = [target for target in DOOR.next_functions(node) if target is not None]
            following[address] = [DOOR.node_address(target) for target in nodes]
            ahead += nodes


def _lead(
    name: str, start: int, following: dict[int, list[int]], leading: dict[int, list[str]]
) -> None:
    """Add a name to all nodes reachable from ``start``, unless they have enough names."""
    met = {start}
    ahead = [start]
    while ahead:
        node = ahead.pop()
        names = leading.setdefault(node, [])
        # If this node has enough names, all nodes behind it have enough, too. So each node is
        # visited only a few times.
        if len(names) < _MOST_NAMES:
            names.append(name)
            fresh = [target for target in following[node] if target not in met]
            met.update(fresh)
            ahead += fresh
