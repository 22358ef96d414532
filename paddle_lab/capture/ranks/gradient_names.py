"""Finds the parameter that a gradient belongs to, and the parameters that got a gradient.

Gradients are found by address, not by name. If an unnamed tensor's name is read, Paddle makes a
name, and this changes the names of later tensors.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any

from paddle_lab.capture.door import DOOR


class GradientNames:
    """Finds the parameter of a gradient, and notes which parameters got a gradient.

    It knows the parameters of optimizers, and those that a collective's frame has in a variable.

    Parameters
    ----------
    layer_type
        ``paddle.nn.Layer``.
    """

    def __init__(self, layer_type: Any) -> None:
        self._layer_type = layer_type
        self._seen: dict[int, weakref.ref[Any]] = {}
        """Layers and parameters that were seen in variables, by id: ``==`` would run an op."""
        self._optimizers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._by_address: dict[int, str] = {}
        self._is_old = True
        self._hooks: list[Any] = []
        self._hooked: set[str] = set()
        self.reduced: dict[str, tuple[int, ...]] = {}
        """The parameters whose gradients were reduced since the last optimizer step. Each has the
        ranks of the group: only these ranks must have equal values."""
        self.may_lack: set[str] = set()
        """Parameters that may have no gradient, because of ``find_unused_parameters=True``."""
        self.got: set[str] = set()
        """Parameters that got a gradient since the last optimizer step."""

    def add(self, optimizer: Any) -> None:
        """Add an optimizer's parameters."""
        self._optimizers.add(optimizer)
        self._is_old = True
        for parameter in parameters_of(optimizer):
            if not parameter.stop_gradient and parameter.name not in self._hooked:
                self._hooked.add(parameter.name)
                note = partial(self._note, parameter.name)
                self._hooks.append(parameter.register_hook(note))

    def add_seen(self, value: object) -> None:
        """Add a parameter, or the parameters of a layer."""
        # isinstance() would run code of a user's proxy, which may raise.
        if issubclass(type(value), (self._layer_type, DOOR.parameter_type)):
            seen = self._seen.get(id(value))
            if seen is None or seen() is not value:
                self._seen[id(value)] = weakref.ref(value)
                self._is_old = True

    def _known(self) -> Iterator[Any]:
        for optimizer in self._optimizers:
            yield from parameters_of(optimizer)
        for one in [seen() for seen in self._seen.values()]:
            if one is not None:
                yield from one.parameters() if isinstance(one, self._layer_type) else (one,)

    def _note(self, name: str, _gradient: Any) -> None:
        self.got.add(name)

    def close(self) -> None:
        """Remove the hooks of parameters."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    def forget_addresses(self) -> None:
        """Forget all addresses, because a backward call makes new gradients."""
        self._is_old = True

    def of(self, tensor: Any) -> str:
        """Return the name of the parameter whose gradient or value ``tensor`` is, else ``""``."""
        if not DOOR.is_initialized(tensor):
            return ""
        if isinstance(tensor, DOOR.parameter_type):
            return str(tensor.name)
        if self._is_old:
            self._is_old = False
            self._by_address = {
                parameter.grad.data_ptr(): parameter.name
                for parameter in self._known()
                if parameter.grad is not None and DOOR.is_initialized(parameter.grad)
            }
        name = self._by_address.get(tensor.data_ptr(), "")
        return name and f"{name}.grad"

    def next_step(self) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]] | None]:
        """Return the parameters reduced since the last step, and those that got no gradient.

        The second is ``None`` if no parameter got a gradient, because a rank without a batch
        contributes zeros.
        """
        reduced, got = self.reduced, self.got | self.may_lack
        without = {name: ranks for name, ranks in reduced.items() if name not in got}
        has_batch = bool(self.got)
        self.reduced, self.got, self.may_lack = {}, set(), set()
        return reduced, without if has_batch else None


def parameters_of(optimizer: Any) -> list[Any]:
    """Return the parameters of an optimizer, including those of its groups."""
    found: list[Any] = []
    for entry in DOOR.optimizer_parameters(optimizer) or ():
        found += entry["params"] if isinstance(entry, dict) else [entry]
    return found
