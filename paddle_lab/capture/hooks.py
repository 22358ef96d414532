"""All hooks together: installed with the first open trace, gone with the last."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paddle_lab.capture.backward_hooks import backward_patches
from paddle_lab.capture.layer_hooks import layer_patches
from paddle_lab.capture.op_hooks import op_patches
from paddle_lab.capture.patches import AttributePatch, FunctionPatch
from paddle_lab.capture.pylayer_hooks import pylayer_patches
from paddle_lab.capture.recorder import Recorder
from paddle_lab.capture.sinks import SINKS
from paddle_lab.capture.static_hooks import static_patches

_LOCK = threading.RLock()


class Hooks:
    """The patches of one process; :data:`HOOKS` is the only instance."""

    def __init__(self) -> None:
        self._patches: list[FunctionPatch | AttributePatch] = []
        self._suspensions = 0

    def open(self, paddle: Any, recorder: Recorder) -> None:
        """Let ``recorder`` listen, installing the hooks if it is the first."""
        with _LOCK:
            if not self._patches:
                patches: list[FunctionPatch | AttributePatch] = [
                    *op_patches(paddle),
                    *layer_patches(paddle),
                    *pylayer_patches(paddle),
                    *backward_patches(paddle),
                    *static_patches(paddle, self.suspended),
                ]
                try:
                    for patch in patches:
                        self._patches.append(patch)
                        patch.apply()
                except BaseException:
                    self._remove()
                    raise
            SINKS.active = (*SINKS.active, recorder)

    def close(self, recorder: Recorder) -> None:
        """Stop ``recorder`` listening; the last one takes the hooks away."""
        with _LOCK:
            SINKS.active = tuple(other for other in SINKS.active if other is not recorder)
            if not SINKS.active:
                self._remove()

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Take all hooks away for a while."""
        with _LOCK:
            self._suspensions += 1
            if self._suspensions == 1:
                for patch in reversed(self._patches):
                    patch.revert()
        try:
            yield
        finally:
            with _LOCK:
                self._suspensions -= 1
                if self._suspensions == 0:
                    for patch in self._patches:
                        patch.apply()

    def _remove(self) -> None:
        patches, self._patches = self._patches, []
        for patch in reversed(patches):
            patch.revert()
        for patch in patches:
            if isinstance(patch, FunctionPatch):
                patch.sweep()


HOOKS = Hooks()
