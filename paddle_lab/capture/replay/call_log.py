"""Records what the ops of an open trace need to run again later."""

from __future__ import annotations

import inspect
from _thread import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.collector import Collector, Forgotten
from paddle_lab.capture.evidence.events.noting import Call, noted, noting
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.replay.calls import RecordedCall, frozen, tensors_in
from paddle_lab.capture.replay.numbered import NumberedTensors
from paddle_lab.capture.replay.op_rules import is_random, written_by
from paddle_lab.capture.replay.threads import openmp_threads
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.table import StringPool, TableBuilder
from paddle_lab.words import Text

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder

_WRITERS = ("set_value", "copy_", "detach_", "value", "get_tensor")
"""Methods of ``paddle.Tensor`` that may write a tensor, or change its graph, without an op."""
_PRIVATE_WRITERS = ("share_tensor_to", "share_buffer_to")
"""Such methods in the table of :data:`DOOR`. They make another tensor share the memory."""


class CallLog(Collector):
    """The collector of :mod:`paddle_lab.capture.replay`. It fills no table.

    Parameters
    ----------
    recorder
        The recorder whose ops are noted.
    paddle
        The paddle module.
    limit_bytes
        How many bytes of tensors may be held.
    """

    def __init__(self, recorder: Recorder, paddle: Any, limit_bytes: int) -> None:
        self._recorder = recorder
        self._paddle = paddle
        self._type = recorder.tensor_type
        self.calls: dict[float, RecordedCall] = {}
        """The calls by key, in order. An op's call has the op's key; others have keys between."""
        self.backward: list[RecordedCall] = []
        """The backward calls, in the order in which they began."""
        self.tensors = NumberedTensors(paddle, limit_bytes)
        self.row_keys: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        """The key of the op in each row of the record's table ``ops``."""
        self.refused: Text | None = None
        """Why no value can be computed again; ``None`` if values can be."""
        self.threads = openmp_threads(paddle)
        self.has_hooks = False
        """Whether the user's code put hooks on gradients."""
        self._between_ops = 0
        self._pending: dict[int, RecordedCall] = {}
        """The running op of each thread."""
        self._next: Any = None
        self._generator = DOOR.default_cpu_generator()
        self._has_device = bool(paddle.is_compiled_with_cuda())
        self._is_open = False
        self._patches = self._made_patches()

    # -- opening and closing ------------------------------------------------------------------

    def _made_patches(self) -> list[AttributePatch]:
        tensor = self._paddle.Tensor
        return [
            *(noted((tensor, name), before=self._before_write) for name in _WRITERS),
            *(noted(name, before=self._before_write) for name in _PRIVATE_WRITERS),
            AttributePatch(tensor, "data", self._around_data),
            noted((tensor, "clear_gradient"), before=self._before_clearing),
            *(self._around_alias((tensor, name)) for name in ("detach", "contiguous")),
            *(self._around_alias(name) for name in ("use_gpudnn", "new_shared_tensor")),
            noted("register_grad_hook", before=self._note_hook),
            noted("run_backward", before=self._before_backward),
            noted("run_partial_grad", before=self._before_grad),
        ]

    def open(self) -> None:
        """Note ops from now on."""
        self._recorder.before_op = self.before
        self._next, self._recorder.on_op = self._recorder.on_op, self._after
        self._is_open = True
        for patch in self._patches:
            patch.apply()

    def close(self) -> None:
        """Stop noting ops, and copy what the user's code may still change."""
        if not self._is_open:
            return
        self._is_open = False
        for patch in reversed(self._patches):
            patch.revert()
        self._recorder.before_op = None
        self._recorder.on_op = None
        self._pending.clear()
        self.tensors.close()

    def forget(self, gone: Forgotten) -> None:
        """Forget dropped ops. Give up if kept ops follow them, because their values need these."""
        first = min(gone.ops, default=0)
        left = {key: call for key, call in self.calls.items() if key < first}
        # Only keys of ops are whole numbers.
        if any(key >= first and key == int(key) and key not in gone.ops for key in self.calls):
            self.release(Text("replay.trimmed"))
        else:
            self.calls = left

    def release(self, why: Text) -> None:
        """Drop all held tensors and all calls, and remember why."""
        self.close()
        self.refused = self.refused or why
        self.calls, self.backward = {}, []
        self.tensors.drop()

    def add_rows(
        self, _builders: dict[str, TableBuilder], _strings: StringPool, keys: RecordKeys
    ) -> None:
        """Add no rows, but remember the keys of the record's ops."""
        self.row_keys = keys.ops.keys.copy()

    # -- ops ----------------------------------------------------------------------------------

    def before(
        self, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> None:
        """Note an op that is about to run, and copy the values that it will overwrite."""
        if self.refused is None:
            try:
                self._note_op(function, name, args, kwargs)
            except Exception as fault:  # noqa: BLE001  (the trace goes on without a replay)
                self.release(Text("replay.failed", fault=described(fault)))

    def _note_op(
        self, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> None:
        reads: list[int] = []
        call = RecordedCall(function, name, reads=reads)
        number, tensor_type = self.tensors.number, self._type
        call.args = frozen(args, number, tensor_type, reads)
        if kwargs:
            call.kwargs = frozen(kwargs, number, tensor_type, reads)
            if "out" in kwargs:
                self.tensors.keep(call, kwargs["out"])
        positions = written_by(name)
        if positions != ():
            for at in range(len(args)) if positions is None else positions:
                if at < len(args):
                    self.tensors.keep(call, args[at])
        if is_random(name):
            call.random_states = self._random_states()
        if self._has_device:  # mixed precision has no effect on the CPU
            call.amp = self._amp_state()
        call.next_op = self._recorder.next_op.next
        self._pending[get_ident()] = call

    def _after(self, op: int, result: Any) -> None:
        if self._next is not None:
            self._next(op, result)
        if self.refused is None:
            try:
                self._note_result(op, result)
            except Exception as fault:  # noqa: BLE001  (the trace goes on without a replay)
                self.release(Text("replay.failed", fault=described(fault)))

    def _note_result(self, op: int, result: Any) -> None:
        call = self._pending.pop(get_ident(), None)
        if call is None or call.next_op != op:
            # This is a PyLayer, a program, or an op whose key another thread took. Its results are
            # held when they are read. Ops inside may have given these tensors numbers already.
            self.calls[op] = RecordedCall(None, "")
            for tensor in tensors_in(result, self._type):
                if not tensor.stop_gradient:
                    self.tensors.numbers.note(tensor, -1)
            return
        self.calls[op] = call
        for tensor in tensors_in(result, self._type):
            call.made.append(self.tensors.made(call, tensor))
        if result is None:
            self.tensors.renew(call)

    def _around_alias(self, place: str | tuple[Any, str]) -> AttributePatch:
        """Return a patch that notes calls of a function such as ``detach``, which runs no op."""
        made: Any = DOOR.now(place) if isinstance(place, str) else getattr(*place)
        function = inspect.unwrap(made)

        def note(recorder: Recorder, call: Call) -> None:
            if recorder is not self._recorder or call.result is call.args[0]:
                return
            noted_call = RecordedCall(function, function.__name__)
            noted_call.args = frozen(call.args, self.tensors.number, self._type, noted_call.reads)
            noted_call.made.append(self.tensors.made(noted_call, call.result))
            self._between_ops += 1
            key = self._recorder.next_op.next - 0.5 + self._between_ops * 1e-9
            self.calls[key] = noted_call

        return noted(place, note)

    # -- writes -------------------------------------------------------------------------------

    def _before_write(self, recorder: Recorder, call: Call) -> None:
        if recorder is self._recorder and call.args and isinstance(call.args[0], self._type):
            self.tensors.keep_unseen(call.args[0])
            for other in call.args[1:]:
                if isinstance(other, self._type):
                    self.tensors.keep_unseen(other)

    def _before_clearing(self, recorder: Recorder, call: Call) -> None:
        if recorder is self._recorder and call.args[0].grad is not None:
            self.tensors.keep_unseen(call.args[0].grad)

    def _around_data(self, descriptor: Any) -> property:
        write = noting(descriptor.__set__, before=self._before_write)
        return property(descriptor.__get__, write, doc=descriptor.__doc__)

    # -- backward -----------------------------------------------------------------------------

    def _before_backward(self, recorder: Recorder, call: Call) -> None:
        if recorder is not self._recorder:
            return
        for tensor, packed in self.tensors.numbers.living():
            if packed >= 0 and not tensor.stop_gradient and tensor.is_leaf:
                gradient = tensor.grad
                if gradient is not None:  # the backward call adds to this gradient
                    self.tensors.keep_unseen(gradient)
        self._backward_call("run_backward", call)

    def _before_grad(self, recorder: Recorder, call: Call) -> None:
        if recorder is self._recorder:
            self._pending[get_ident()] = self._backward_call("run_partial_grad", call)

    def _backward_call(self, name: str, call: Call) -> RecordedCall:
        made = RecordedCall(inspect.unwrap(DOOR.now(name)), name)
        made.args = frozen(call.args, self.tensors.number, self._type, made.reads)
        if call.kwargs:
            made.kwargs = frozen(call.kwargs, self.tensors.number, self._type, made.reads)
        made.amp = self._amp_state() if self._has_device else None
        made.builds_graph = True
        made.next_op = self._recorder.next_op.next
        self.backward.append(made)
        return made

    def _note_hook(self, recorder: Recorder, _call: Call) -> None:
        self.has_hooks = self.has_hooks or recorder is self._recorder

    # -- the program's state ------------------------------------------------------------------

    def _random_states(self) -> list[Any]:
        states = [self._generator.get_state()]
        return [*states, self._paddle.get_rng_state()] if self._has_device else states

    def _amp_state(self) -> Any:
        """Return the state of automatic mixed precision; ``None`` where it is off."""
        tracer = DOOR.current_tracer()
        level = int(DOOR.amp_level(tracer))
        if not level:
            return None
        allowed, blocked = DOOR.amp_ops(tracer)
        return level, DOOR.amp_dtype(tracer), frozenset(allowed), frozenset(blocked)
