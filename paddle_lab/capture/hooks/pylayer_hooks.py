"""Hooks around ``PyLayer.apply`` and around a PyLayer's ``backward``."""

from __future__ import annotations

from types import FrameType
from typing import Any

from paddle_lab.capture.backward_graph.graphs import flat
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.noting import Call, noted
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.recorded_calls import OpenCall, recording
from paddle_lab.capture.recorder.recorder import PYLAYER, Recorder
from paddle_lab.capture.rows.cells import NO_KEY


def pylayer_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches around ``PyLayer.apply`` and ``PyLayerBackward.backward``."""
    apply = classmethod(recording(vars(DOOR.pylayer_type)["apply"], _ApplyCall))
    context = DOOR.pylayer_context
    return [
        AttributePatch(paddle.autograd.PyLayer, "apply", lambda _bound: apply),
        # C++ makes the context inside ``apply``, and calls ``backward`` on the same object later.
        noted((context, "__init__"), _note_context),
        AttributePatch(context, "backward", lambda backward: recording(backward, _BackwardCall)),
    ]


class _ApplyCall(OpenCall):
    """One call of ``PyLayer.apply`` while it runs."""

    def begin(self, frame: FrameType) -> None:
        recorder = self.recorder
        self._pylayer: type = self.args[0]
        self._name = self._pylayer.__name__
        self._given = self.args[1:]
        self._resolved = recorder.begin_op(self._given, self.kwargs)
        if recorder.call_log is not None:
            at = recorder.call_log.begin_pylayer(self._name, self._given, self.kwargs)
            self._resolved = (*self._resolved[:2], at)
        self._scope = recorder.open_scope(self.state, PYLAYER, self._name, frame)
        recorder.anchor(self.state, frame)
        self.state.pylayers.append(self._scope)

    def end(self) -> None:
        """Record a call that returned."""
        recorder = self.recorder
        self._leave()
        rules, arguments = recorder.pylayer_rules, (*self._given, *self.kwargs.values())
        rules.note_call(self._pylayer, self._scope, arguments, self.caller)
        rules.note_result(self._pylayer, self.result, self.caller)
        tensors = [one for one in flat(self.result) if isinstance(one, recorder.tensor_type)]
        made = [key for one in tensors if (key := recorder.tensors.known_key(one)) != NO_KEY]
        op = recorder.end_op(
            self._name, self._given, self._resolved, self.result, *self.times_ns, self.caller,
            is_pylayer=True,
        )  # fmt: skip
        recorder.pylayers.results.extend([cell for tensor in made for cell in (op, tensor)])
        self._note_op(op)

    def fail(self) -> None:
        """Record a call that raised."""
        self._leave()
        self.recorder.pylayer_rules.note_refusal(self.error, self.caller)
        op = self.recorder.fail_op(
            self._name, self._resolved, *self.times_ns, self.caller, is_pylayer=True
        )
        self._note_op(op)

    def _leave(self) -> None:
        self.state.pylayers.pop()
        self.leave()
        # The op is in the scope of its own PyLayer, but its caller is outside of that scope.
        self.state.scope = self._scope

    def _note_op(self, op: int) -> None:
        self.recorder.pylayers.ops[self._scope] = op
        self.leave()


class _BackwardCall(OpenCall):
    """A running ``backward`` of a PyLayer."""

    def begin(self, frame: FrameType) -> None:
        recorder, context = self.recorder, self.args[0]
        # Paddle makes a context class for each PyLayer, and names it ``Name_backward``.
        name = type(context).__name__.removesuffix("_backward")
        scope = recorder.open_scope(self.state, PYLAYER, name, frame)
        self._forward = recorder.pylayers.scope_of(context)
        recorder.pylayers.forward_of[scope] = self._forward
        recorder.anchor(self.state, frame)

    def end(self) -> None:
        """Check the returned gradients while the call's scope is still open."""
        recorder = self.recorder
        recorder.pylayer_rules.note_gradients(self._forward, self.result, self.state.anchor)
        if recorder.call_log is not None:
            recorder.call_log.note_gradients(recorder.pylayers.ops.get(self._forward), self.result)
        self.leave()


def _note_context(recorder: Recorder, call: Call) -> None:
    pylayers = recorder.thread().pylayers
    if pylayers:
        recorder.pylayers.note_context(call.args[0], pylayers[-1])
