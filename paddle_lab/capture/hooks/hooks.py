"""All hooks together. The first open trace installs them, and the last one removes them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

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
from paddle_lab.capture.evidence.events.training_calls import training_call_patches
from paddle_lab.capture.grad_fn import GRAD_FN
from paddle_lab.capture.hooks.backward_hooks import backward_patches
from paddle_lab.capture.hooks.flight_hooks import flight_patches
from paddle_lab.capture.hooks.layer_hooks import layer_patches, optimizer_patches
from paddle_lab.capture.hooks.loader_hooks import loader_patches
from paddle_lab.capture.hooks.memory_hooks import arrival_patches, thread_patches
from paddle_lab.capture.hooks.op_hooks import OpHooks
from paddle_lab.capture.hooks.patches import FunctionPatch, Patch
from paddle_lab.capture.hooks.programs import program_layer_patches
from paddle_lab.capture.hooks.pylayer_hooks import pylayer_patches
from paddle_lab.capture.hooks.static_hooks import static_patches
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.recorder.recorder import SINKS, Recorder
from paddle_lab.capture.static.exporting import export_patches

_LOCK = threading.RLock()
_FEATURES: Final[tuple[tuple[str, Callable[[Any], Sequence[Patch]]], ...]] = (
    ("reads", read_patches),
    ("creations", creation_patches),
    ("overwrites", overwrite_patches),
    ("gradient_stops", gradient_stop_patches),
    ("gradient_modes", gradient_mode_patches),
    ("optimizers", optimizer_patches),
    ("optimizers", training_call_patches),
    ("arrivals", arrival_patches),
    ("layers", layer_patches),
    ("pylayers", pylayer_patches),
    ("backward", backward_patches),
    ("threads", thread_patches),
    ("loader", loader_patches),
)


class Hooks:
    """The patches of one process; :data:`HOOKS` is the only instance.

    The wrappers of ops are made once and kept, so opening a trace only has to look for bindings.
    """

    def __init__(self) -> None:
        self._op_hooks: OpHooks | None = None
        self._patches: list[Patch] = []
        self._lasting: Sequence[Patch] = ()
        """The patches that stay while the others are suspended."""
        self._is_installed = False
        self._suspensions = 0
        self._flight_only: Recorder | None = None
        """The recorder of the flight record only, if its hooks are installed."""
        self._waiting: Recorder | None = None
        """Such a recorder, if it waits until the open traces have ended."""

    def open(self, paddle: Any, recorder: Recorder) -> None:
        """Make ``recorder`` listen. The first recorder installs the hooks."""
        with _LOCK:
            if (before := self._flight_only) is not None:
                is_recording = before in SINKS.active
                self.close(before)
                self._waiting = before if is_recording else None
            if not self._is_installed:
                self._is_installed = True
                if DOOR.has("tensors"):
                    self._install(paddle, recorder)
            others = SINKS.active
            SINKS.active = (*others, recorder) if others else recorder.alone

    def _install(self, paddle: Any, recorder: Recorder) -> None:
        def made(feature: str, make: Callable[[Any], Sequence[Patch]]) -> Sequence[Patch]:
            """Return a feature's patches; none if the feature is off, or if making them fails."""
            if not DOOR.has(feature):
                return ()
            try:
                return make(paddle)
            except Exception as fault:  # noqa: BLE001  (the user's code runs without the feature)
                recorder.notices.append(DOOR.failure_notice(feature, described(fault)))
                return ()

        def op_patches(paddle: Any) -> Sequence[Patch]:
            if self._op_hooks is None:
                self._op_hooks = OpHooks(paddle.Tensor)
            self._op_hooks.listen_for(recorder)
            return self._op_hooks.patches()

        if DOOR.has("backward"):
            GRAD_FN.find_out(paddle)
        self._patches = [*made("ops", op_patches)]
        if recorder.writes_flight_only:
            self._flight_only = recorder
            self._patches += made("tensors", flight_patches(self.suspended))
            self._apply()
            return
        # Make these patches again each time, because other code may have patched a class since the
        # last time.
        running = made("program_counts", program_layer_patches)
        exports = made("static_programs", lambda _: export_patches(recorder))
        self._lasting = [*running, *exports]
        for feature, make in _FEATURES:
            self._patches += made(feature, make)
        static = static_patches(self.suspended, tells_programs=bool(running))
        self._patches += made("static", static)
        self._apply()

    def _apply(self) -> None:
        try:
            for patch in (*self._patches, *self._lasting):
                patch.apply()
        except BaseException:
            self._remove()
            raise

    def close(self, recorder: Recorder) -> None:
        """Stop ``recorder`` listening. The last recorder removes the hooks."""
        with _LOCK:
            others = tuple(other for other in SINKS.active if other is not recorder)
            SINKS.active = others[0].alone if len(others) == 1 else others
            if recorder is self._waiting:
                self._waiting = None
            if not SINKS.active and self._is_installed:
                self._remove()
                waiting, self._waiting = self._waiting, None
                if waiting is not None:
                    self.open(sys.modules["paddle"], waiting)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Remove the hooks while a block runs, except the permanent ones."""
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
        self._patches, self._lasting = [], ()
        self._is_installed = False
        self._flight_only = None
        if self._op_hooks is not None:
            self._op_hooks.listen_for(None)


HOOKS = Hooks()
