"""All hooks together: installed with the first open trace, gone with the last."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.gradient_stops import (
    gradient_mode_patches,
    gradient_stop_patches,
)
from paddle_lab.capture.evidence.events.tensor_values import (
    creation_patches,
    overwrite_patches,
    read_patches,
)
from paddle_lab.capture.evidence.optimizers import optimizer_patches
from paddle_lab.capture.grad_fn import GRAD_FN
from paddle_lab.capture.hooks.arrival_hooks import arrival_patches
from paddle_lab.capture.hooks.backward_hooks import backward_patches
from paddle_lab.capture.hooks.layer_hooks import layer_patches
from paddle_lab.capture.hooks.op_hooks import OpHooks
from paddle_lab.capture.hooks.patches import AttributePatch, FunctionPatch
from paddle_lab.capture.hooks.programs import program_layer_patches
from paddle_lab.capture.hooks.pylayer_hooks import pylayer_patches
from paddle_lab.capture.hooks.static_hooks import static_patches
from paddle_lab.capture.hooks.thread_hooks import thread_patches
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.recorder.sinks import SINKS

_LOCK = threading.RLock()

_Patch = TypeVar("_Patch", AttributePatch, FunctionPatch | AttributePatch)
_Patches = Sequence[FunctionPatch | AttributePatch]


class Hooks:
    """The patches of one process; :data:`HOOKS` is the only instance.

    The wrappers of ops are made once and kept: opening a trace only has to look for bindings.
    """

    def __init__(self) -> None:
        self._op_hooks: OpHooks | None = None
        self._patches: list[FunctionPatch | AttributePatch] = []
        self._lasting: list[AttributePatch] = []
        """Those that stay where the others step aside."""
        self._is_installed = False
        self._suspensions = 0

    def open(self, paddle: Any, recorder: Recorder) -> None:
        """Let ``recorder`` listen, installing the hooks if it is the first."""
        with _LOCK:
            if not self._is_installed:
                self._install(paddle, recorder)
            others = SINKS.active
            SINKS.active = (*others, recorder) if others else recorder.alone

    def _install(self, paddle: Any, recorder: Recorder) -> None:
        self._is_installed = True
        if not DOOR.has("tensors"):
            return
        if DOOR.has("backward"):
            GRAD_FN.find_out(paddle)
        self._lasting = [*_made(recorder, "program_counts", program_layer_patches)]

        def static() -> _Patches:
            return static_patches(paddle, self.suspended, tells_programs=bool(self._lasting))

        # Made anew each time: a class may have been patched by others since.
        self._patches = []
        for feature, make in (
            ("ops", lambda: self._op_patches(paddle, recorder)),
            ("reads", lambda: read_patches(paddle)),
            ("creations", lambda: creation_patches(paddle)),
            ("overwrites", lambda: overwrite_patches(paddle)),
            ("gradient_stops", lambda: gradient_stop_patches(paddle)),
            ("gradient_modes", lambda: gradient_mode_patches(paddle)),
            ("optimizers", lambda: optimizer_patches(paddle)),
            ("arrivals", arrival_patches),
            ("layers", lambda: layer_patches(paddle)),
            ("pylayers", lambda: pylayer_patches(paddle)),
            ("backward", backward_patches),
            ("static", static),
            ("threads", thread_patches),
        ):
            self._patches += _made(recorder, feature, make)
        try:
            for patch in (*self._patches, *self._lasting):
                patch.apply()
        except BaseException:
            self._remove()
            raise

    def _op_patches(self, paddle: Any, recorder: Recorder) -> _Patches:
        if self._op_hooks is None:
            self._op_hooks = OpHooks(paddle)
        self._op_hooks.listen_for(recorder)
        return self._op_hooks.patches()

    def close(self, recorder: Recorder) -> None:
        """Stop ``recorder`` listening; the last one takes the hooks away."""
        with _LOCK:
            others = tuple(other for other in SINKS.active if other is not recorder)
            SINKS.active = others[0].alone if len(others) == 1 else others
            if not SINKS.active and self._is_installed:
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
        for patch in (*reversed(self._patches), *self._lasting):
            patch.revert()
        for patch in self._patches:
            if isinstance(patch, FunctionPatch):
                patch.sweep()
        self._patches, self._lasting = [], []
        self._is_installed = False
        if self._op_hooks is not None:
            self._op_hooks.listen_for(None)


def _made(
    recorder: Recorder, feature: str, make: Callable[[], Sequence[_Patch]]
) -> Sequence[_Patch]:
    """Return the patches of a feature; none where it is off, or where making them fails."""
    if not DOOR.has(feature):
        return ()
    try:
        return make()
    except Exception as fault:  # noqa: BLE001  (the user's code runs without the feature)
        recorder.notices.append(DOOR.failure_notice(feature, described(fault)))
        return ()


HOOKS = Hooks()
