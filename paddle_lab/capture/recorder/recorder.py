"""The recorder of one trace, which the hooks call while the traced code runs.

The native hot path writes the rows of nearly all ops and layer calls directly into the tapes. This
code handles the remaining cases, and all cases if the native part was not built. Rows contain
integers only; :mod:`paddle_lab.capture.tables` makes columns of them when the trace ends.
"""

from __future__ import annotations

from _thread import get_ident, get_native_id
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import count
from time import perf_counter_ns
from types import FrameType, NoneType
from typing import TYPE_CHECKING, Any, Protocol

from paddle_lab.capture.backward_graph.graphs import BackwardGraphs, flat
from paddle_lab.capture.breaks.log import BreakLog
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.collector import Collector
from paddle_lab.capture.evidence.events.event_log import EventLog
from paddle_lab.capture.evidence.events.loader_waits import LoaderLog
from paddle_lab.capture.evidence.events.pylayer_rules import PyLayerRules
from paddle_lab.capture.evidence.events.step_gradients import StepGradients
from paddle_lab.capture.evidence.optimizers import OptimizerLog
from paddle_lab.capture.evidence.step_looks import StepLooks
from paddle_lab.capture.evidence.tensor_lives import TensorLives
from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG
from paddle_lab.capture.native import native_twin
from paddle_lab.capture.recorder.attributes import attribute_text
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.recorder.layers import LayerPool
from paddle_lab.capture.recorder.program_log import ProgramLog
from paddle_lab.capture.recorder.pylayer_calls import PyLayerCalls
from paddle_lab.capture.recorder.tensors import TensorPool
from paddle_lab.capture.recorder.thread_state import ThreadState
from paddle_lab.capture.rows.cells import NO_KEY
from paddle_lab.capture.rows.counter import Counter
from paddle_lab.capture.rows.op_names import OP_NAMES
from paddle_lab.capture.rows.tape import Tape
from paddle_lab.capture.stacks.frame_kinds import outermost_runner
from paddle_lab.capture.stacks.source_texts import Cells
from paddle_lab.capture.stacks.stack_pool import NO_STACK, StackPool
from paddle_lab.capture.turns.code_loops import CodeDescriber, LoopRow
from paddle_lab.capture.turns.turns import TurnTracker
from paddle_lab.trace.schema import ROLES, SCOPE_KINDS
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.capture.backward_graph.grad_nodes import Reached
    from paddle_lab.capture.evidence.gradients.post_hooks import BackwardWatch
    from paddle_lab.capture.memory.held.familiar_calls import FamiliarCalls

INPUT = ROLES.index("input")
OUTPUT = ROLES.index("output")
RESULT = ROLES.index("result")
LAYER, REGION, PYLAYER, BACKWARD_CALL, OPTIMIZER_STEP, *_ = range(len(SCOPE_KINDS))

Resolved = tuple[list[int], list[Any], int]
"""An op's inputs (argument positions and tensor rows alternate), its other arguments, and its
position in :attr:`Recorder.call_tape`, or -1."""
BackwardCallRow = tuple[int, int, int, int, int, bool, bool, int, int, int, int, str]
"""key, kind, stack, scope, number of ops with a key, create_graph, retain_graph, thread, start, end
and the trace's own time before it (these three are 0 if it did not run), error."""


class CallLogging(Protocol):
    """Notes what ops need to run again."""

    def begin(
        self, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> int:
        """Note a call that is about to run. Return its position in the tape, or -1."""

    def end(self, key: int, at: int, result: Any) -> None:
        """Note what a call returned. ``at`` is -1 for an op that did not begin here."""

    def begin_pylayer(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        """Note a call of a PyLayer that is about to run. Return its position, or -1."""

    def note_gradients(self, key: int | None, returned: Any) -> None:
        """Note what the ``backward`` of a PyLayer returned; ``key`` is that of its op."""

    def note_unseen_ops(self, tensors: Any, *, have_run: bool = True) -> None:
        """Note the tensors that ops may write which no hook sees."""

    def begin_program(self, layer: Any, given: Any, *, is_sot: bool) -> int:
        """Note a compiled program that is about to run. Return its position, or -1."""

    def begin_programs(self, given: Any, count: int) -> int:
        """Note a call of ``to_static`` whose programs have run. Return its position, or -1."""


@native_twin
class Sinks:
    """The recorders of the open traces, outermost first; empty while hooks are suspended.

    Hooks read :attr:`active` once per call. The tuple is only replaced as a whole, so hooks never
    see a partial change if a trace opens or closes in another thread.
    """

    __slots__ = ("active",)

    def __init__(self) -> None:
        self.active: tuple[Recorder, ...] = ()


SINKS = Sinks()
"""The recorders that are listening. Every hook reads this list."""


class Recorder:
    """Everything that one trace has seen so far.

    Parameters
    ----------
    paddle
        The paddle module.
    anchor
        A frame that runs as long as the trace. Stacks are walked up to it.
    keeps_callers
        Whether stacks contain the anchor and its callers, too.
    """

    reach_limit: Callable[[], None]
    """Forgets ops. Called when an op gets the key at which :attr:`next_op` has its alarm. Without a
    limit there is no alarm."""
    familiar_calls: FamiliarCalls | None = None
    """Tells which backward calls repeat earlier ones, if memory is recorded."""
    log_inside: Callable[[int], AbstractContextManager[None]] | None = None
    """Sets the level of Paddle's log for a region, and records the log."""
    writes_flight_only: bool = False
    """Whether ops are written into the flight record, and not recorded."""
    _has_failed: bool = False
    call_log: CallLogging | None = None
    """Notes what each op needs to run again; set before hooks open."""
    call_tape: object = None
    """The part of :attr:`call_log` that native code calls."""
    on_op: Callable[[int, Any], None] | None = None
    """Called with the key and the result of each op that returned; set before hooks open."""
    on_step_end: Callable[..., None] | None = None
    """Called at the end of a step with the step's scope, and whether the user marked the step."""
    on_backward: Callable[[int, Reached, tuple[Any, Any]], BackwardWatch] | None = None
    """Called when a backward call begins, with its key, the grad nodes that it reaches, and a pair:
    its tensors and the gradients that it begins with."""

    attributes: dict[Any, int]
    """The keys of ops' arguments that are not tensors."""

    attribute_forms: dict[Any, int]
    """For the native part: the keys of those that cannot be hashed, such as slices."""

    cells: Cells | None = None
    """Finds notebook cells by file name."""

    grad_values: dict[int, Any]
    """Maps a row of ``grad_stats`` to the gradient, for the region whose gradients are kept."""

    kept_values: dict[int, Any]
    """Maps a row of ``tensors`` to the values, for the part whose values are kept."""

    def __init__(
        self, paddle: Any, *, anchor: FrameType | None = None, keeps_callers: bool = True
    ) -> None:
        self.tensor_type = paddle.Tensor
        self.parameter_type = DOOR.parameter_type if DOOR.has("tensors") else NoneType
        self.alone = (self,)
        """The value of ``SINKS.active`` while only this recorder listens."""
        self.notices: list[str] = []
        """Sentences about what the trace could not record."""
        self.stacks = StackPool()
        self.threads: dict[int, ThreadState] = {}
        self.native_threads: dict[int, int] = {}
        """Maps the operating system's id of a thread to Python's. Python reuses the id of an ended
        thread for a later thread, whose id in the operating system is new."""
        self._next_thread: Callable[[], int] = count().__next__
        self.ops = Tape()
        """Rows of :class:`OpCell`, each followed by the op's inputs and outputs."""
        self.next_op = Counter()
        self.attributes, self.attribute_forms = {(): 0}, {}
        self._next_attributes, self._next_name = count(1).__next__, count(1).__next__
        self.tensors = TensorPool(
            self.parameter_type,
            self.ops,
            reads_place=paddle.is_compiled_with_cuda()
            or paddle.is_compiled_with_xpu()
            or bool(paddle.device.get_all_custom_device_type()),
        )
        self.layers = LayerPool()
        self.pylayers = PyLayerCalls()
        self.programs = ProgramLog()
        self.scopes = Tape()
        """Rows of :class:`ScopeCell`."""
        self.next_scope = Counter()
        self.scope_names: dict[str, int] = {"": 0}
        self.eval_scopes = Tape()
        """Scopes of calls of layers in eval mode."""
        self.loops: dict[int, LoopRow] = {}
        self.turn_rows = Tape()
        """Rows of :class:`TurnCell`."""
        self.turn_values: list[Any] = []
        """Values of loop variables: numbers and texts."""
        self.turns = TurnTracker(
            self.scopes,
            self.next_scope,
            self.turn_rows,
            self.turn_values,
            CodeDescriber(paddle, self.loops, self.scope_name_key),
        )
        """Finds the calls of the user's functions and the iterations of their loops."""
        self.backward = BackwardGraphs(self.tensors, paddle.Tensor)
        self.backward_calls: list[BackwardCallRow] = []
        self.next_backward_call: Callable[[], int] = count().__next__
        self.events = EventLog(self.thread, self.stacks, self.next_op)
        self.optimizers = OptimizerLog(self.tensors, self.backward_calls)
        self.step_gradients = StepGradients(self.events, self.tensors, self.optimizers)
        self.pylayer_rules = PyLayerRules(self.events, paddle.Tensor)
        self.tensor_lives = TensorLives(self.tensors, self.next_op)
        self.collectors: list[Collector] = []
        """The collectors of the requested evidence."""
        self.grad_values, self.kept_values = {}, {}
        state = self.thread()
        if anchor is not None and keeps_callers:
            state.anchor_stack = self.stacks.take(anchor, None, NO_STACK)
        state.anchor = anchor if keeps_callers else outermost_runner(anchor)
        self.start_ns = perf_counter_ns()

    @cached_property
    def step_looks(self) -> StepLooks:
        """Looks at parameters before and after optimizer steps."""
        return StepLooks(self.tensors, self.optimizers, self.events.number_of)

    @cached_property
    def breaks(self) -> BreakLog:
        """Records where functions of ``to_static`` were split, or ran eagerly."""
        return BreakLog(self.events)

    @cached_property
    def loaders(self) -> LoaderLog:
        """Measures how long loops wait for batches."""
        return LoaderLog()

    def thread(self) -> ThreadState:
        """Return the state of the calling thread."""
        identity = get_ident()
        state = self.threads.get(identity)
        if state is None:
            if self.threads:
                # Otherwise the log would lose allocations of other threads between two segments.
                ALLOCATOR_LOG.keep_grad_nodes()
            state = self.threads[identity] = ThreadState(self._next_thread())
            self.native_threads[get_native_id()] = identity
        if ALLOCATOR_LOG.keeps_grad_nodes:
            ALLOCATOR_LOG.introduce_thread()
        return state

    def thread_numbers(self) -> dict[int, int]:
        """Return the numbers of the threads that ran ops, by the operating system's id."""
        return {
            native: self.threads[identity].number
            for native, identity in self.native_threads.items()
            if identity in self.threads
        }

    def attempt(self, action: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function for this trace. If the call fails, stop the trace and return ``None``."""
        try:
            return action(*args, **kwargs)
        except Exception as error:  # noqa: BLE001
            self.abandon(error)
            return None

    def abandon(self, error: Exception) -> None:
        """Stop recording after an error of this package. The traced code continues."""
        if not self._has_failed:
            self._has_failed = True
            self.notices.append(say("notices.fault.incomplete", fault=described(error)))
        SINKS.active = tuple(other for other in SINKS.active if other is not self)

    # -- ops ----------------------------------------------------------------------------------

    def begin_op(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Resolved:
        """Resolve an op's inputs before the op runs, because the op may modify them in place."""
        inputs: list[int] = []
        attributes: list[Any] = []
        for slot, argument in enumerate(args):
            self.resolve(slot, argument, inputs, attributes)
        for slot, (name, argument) in enumerate(kwargs.items(), len(args)):
            named: list[Any] = []
            self.resolve(slot, argument, inputs, named)
            attributes.extend((name, value) for value in named)
        return inputs, attributes, -1

    def resolve(self, slot: int, argument: Any, inputs: list[int], attributes: list[Any]) -> None:
        """Resolve one argument: a tensor, a value, or a list of tensors and numbers."""
        is_list = isinstance(argument, (list, tuple))
        values = flat(argument) if is_list else (argument,)
        tensors = [value for value in values if isinstance(value, self.tensor_type)]
        for tensor in tensors:
            inputs.extend((slot, self.tensors.key_of(tensor)))
        if not tensors:
            attributes.append(tuple(argument) if is_list else argument)

    def end_op(
        self,
        name: str,
        args: tuple[Any, ...],
        resolved: Resolved,
        result: Any,
        start_ns: int,
        end_ns: int,
        own_ns: int,
        frame: FrameType | None,
        *,
        is_pylayer: bool = False,
        phase: int | None = None,
    ) -> int:
        """Record an op that returned. Return its key.

        Parameters
        ----------
        own_ns
            The thread's :attr:`ThreadState.own_ns` when the op began.
        """
        op: int = self.next_op()
        made = self._modified(args) if result is None else result
        outputs = [
            self.tensors.produce(value, op)
            for value in flat(made)
            if isinstance(value, self.tensor_type)
        ]
        flags = is_pylayer, False
        self._add_op(op, name, resolved, outputs, (start_ns, end_ns, own_ns), frame, flags, phase)
        if self.call_log is not None:
            self.call_log.end(op, resolved[2], made)
        if self.on_op is not None:
            self.on_op(op, made)
        if op >= self.next_op.alarm:
            self.reach_limit()
        return op

    def fail_op(
        self,
        name: str,
        resolved: Resolved,
        start_ns: int,
        end_ns: int,
        own_ns: int,
        frame: FrameType | None,
        *,
        is_pylayer: bool = False,
    ) -> int:
        """Record an op that raised an error: inputs and a stack, but no outputs. Return its key."""
        op: int = self.next_op()
        times_ns = start_ns, end_ns, own_ns
        self._add_op(op, name, resolved, [], times_ns, frame, (is_pylayer, True))
        if op >= self.next_op.alarm:
            self.reach_limit()
        return op

    def _add_op(
        self,
        op: int,
        name: str,
        resolved: Resolved,
        outputs: list[int],
        times_ns: tuple[int, int, int],
        frame: FrameType | None,
        flags: tuple[bool, bool],
        phase: int | None = None,
    ) -> None:
        state = self.thread()
        stack = self.stacks.take(frame, state.anchor, state.anchor_stack)
        scope = self.turns.scope_at(frame, state.anchor, state.scope, state.number)
        inputs, attributes, _ = resolved
        start_ns, end_ns, own_ns = times_ns
        self.ops.extend(
            (
                op, len(inputs), len(outputs), OP_NAMES.key(name), scope, stack, state.number,
                start_ns, end_ns - start_ns, state.phase if phase is None else phase,
                self.attributes_key(attributes), *flags, own_ns, *inputs, *outputs,
            )
        )  # fmt: skip

    def attributes_key(self, attributes: list[Any]) -> int:
        """Return the key of an op's arguments that are not tensors. Equal ones share a key."""
        # 1, 1.0 and True are equal, but are different arguments.
        signature: Any = (*attributes, *map(type, attributes))
        try:
            known = self.attributes.get(signature)
        except TypeError:  # an argument that cannot be hashed
            signature = attribute_text(attributes)
            known = self.attributes.get(signature)
        if known is None:
            # Keys are never reused, even if unused attributes are dropped.
            known = self.attributes.setdefault(signature, self._next_attributes())
        return known

    def _modified(self, args: tuple[Any, ...]) -> list[Any]:
        """Return the tensors among ``args`` that an op without a result has modified."""
        return [
            value
            for value in args
            if isinstance(value, self.tensor_type) and self.tensors.is_modified(value)
        ]

    # -- scopes -------------------------------------------------------------------------------

    def enter_layer(self, state: ThreadState, layer: Any, frame: FrameType) -> None:
        """Open the scope of a layer's call, and anchor stacks at ``frame``, the hook's frame."""
        key = self.layers.key_of(layer, state.layer, frame.f_back)
        scope = self.open_scope(state, LAYER, "", frame.f_back, layer=key)
        if not getattr(layer, "training", True):
            self.eval_scopes.extend((scope,))
        self.anchor(state, frame)
        state.layer = key

    def open_scope(
        self,
        state: ThreadState,
        kind: int,
        name: str,
        frame: FrameType | None,
        *,
        layer: int = NO_KEY,
        backward_call: int = NO_KEY,
    ) -> int:
        """Record a scope inside the scope that is open at ``frame``, and make it current."""
        parent = self.turns.scope_at(frame, state.anchor, state.scope, state.number)
        scope: int = self.next_scope()
        name_key = self.scope_name_key(name)
        self.scopes.extend((scope, kind, name_key, parent, layer, backward_call, state.number))
        state.scope = scope
        return scope

    def scope_name_key(self, name: str) -> int:
        """Return the key of a scope's name."""
        known = self.scope_names.get(name)
        return self.scope_names.setdefault(name, self._next_name()) if known is None else known

    def anchor(self, state: ThreadState, frame: FrameType) -> None:
        """Take the stack at ``frame``'s caller. From now on, stacks are walked up to ``frame``."""
        state.anchor_stack = self.stacks.take(frame.f_back, state.anchor, state.anchor_stack)
        state.anchor = frame
