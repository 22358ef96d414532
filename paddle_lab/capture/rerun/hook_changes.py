"""Notes which tensors' gradient hooks changed while code ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.collector import Collector

_NAMES = ("register_grad_hook", "remove_grad_hook", "register_void_hook")


class HookChanges(Collector):
    """Notes changes that cannot be undone before a second run."""

    def __init__(self) -> None:
        self.tensors: set[int] = set()
        """The ids of the tensors."""
        has_hooks = DOOR.has("gradients") and DOOR.has("reruns")
        self._patches = [DOOR.patch(name, self._noting) for name in _NAMES if has_hooks]

    def open(self) -> None:
        """Start to note changes."""
        for patch in self._patches:
            patch.apply()

    def close(self) -> None:
        """Stop noting changes."""
        for patch in self._patches:
            patch.revert()

    def _noting(self, change: Callable[..., Any]) -> Callable[..., Any]:
        def noted(tensor: Any, *args: Any) -> Any:
            self.tensors.add(id(tensor))
            return change(tensor, *args)

        return noted
