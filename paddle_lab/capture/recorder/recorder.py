"""The recorder of one trace: what the hooks call while the traced code runs.

Nearly all ops and layer calls pass it by: the native hot path writes their rows itself, straight
into the tapes. What it leaves to Python comes here, and so does everything where it was not built.
Rows are integers only; :mod:`paddle_lab.capture.tables.assembly` makes columns of them at the end.
"""

from __future__ import annotations

import weakref
from _thread import get_ident, get_native_id
from collections.abc import Callable, Iterator
from itertools import count
from time import perf_counter_ns
from types import FrameType, NoneType
from typing import TYPE_CHECKING, Any

from paddle_lab.capture.backward_graph.graphs import BackwardGraphs, flat
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.collector import Collector
from paddle_lab.capture.evidence.events.event_log import EventLog
from paddle_lab.capture.evidence.events.pylayer_rules import PyLayerRules
from paddle_lab.capture.evidence.events.step_gradients import StepGradients
from paddle_lab.capture.evidence.optimizers import OptimizerLog
from paddle_lab.capture.evidence.tensor_lives import TensorLives
from paddle_lab.capture.hooks.programs import ProgramLog
from paddle_lab.capture.memory.log.allocator_log import ALLOCATOR_LOG
from paddle_lab.capture.recorder.attributes import attribute_text
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.recorder.layers import LayerPool
from paddle_lab.capture.recorder.sinks import SINKS
from paddle_lab.capture.recorder.tensors import TensorPool
from paddle_lab.capture.recorder.thread_state import Saved, ThreadState
from paddle_lab.capture.rows.cells import NO_KEY, OP_CELLS, SCOPE_CELLS, OpCell
from paddle_lab.capture.rows.counter import Counter
from paddle_lab.capture.rows.op_names import OP_NAMES
from paddle_lab.capture.rows.tape import Tape, rows_of
from paddle_lab.capture.stacks.stack_pool import NO_STACK, StackPool
from paddle_lab.capture.turns.describe import CodeDescriber, LoopRow
from paddle_lab.capture.turns.turns import TurnTracker
from paddle_lab.trace.schema import ROLES, SCOPE_KINDS
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.capture.backward_graph.double_grad import Reached
    from paddle_lab.capture.evidence.collector import Forgotten
    from paddle_lab.capture.evidence.gradients.post_hooks import BackwardWatch
    from paddle_lab.capture.limit.limiter import Limiter
    from paddle_lab.capture.limit.trimming import KeptOps
    from paddle_lab.capture.memory.held.familiar_calls import FamiliarCalls

INPUT = ROLES.index("input")
OUTPUT = ROLES.index("output")
RESULT = ROLES.index("result")
LAYER, REGION, PYLAYER, BACKWARD_CALL, OPTIMIZER_STEP, *_ = range(len(SCOPE_KINDS))

BackwardCallRow = tuple[int, int, int, int, int, bool, bool, str]
"""key, kind, stack, scope, how many ops had a key, create_graph, retain_graph, error."""


class Recorder:
    """Everything one trace has seen so far.

    Parameters
    ----------
    paddle
        The paddle module.
    anchor
        The frame that runs for as long as the trace does; stacks are walked as far as it.
    keeps_callers
        Whether stacks go on with the anchor and its callers, or end before it.
    """

    limiter: Limiter | None = None
    """Sees to it that the trace grows no longer than it may."""
    familiar_calls: FamiliarCalls | None = None
    """Tells which backward calls are like earlier ones, where memory is recorded."""
    _has_failed: bool = False
    on_step_end: Callable[[int], None] | None = None
    """Called with the scope of an optimizer's step that has ended."""
    forgetting: Callable[[KeptOps, Forgotten], None] | None = None
    """Told what a trace does not keep, when it forgets it."""
    on_backward: Callable[[int, Reached, tuple[Any, Any]], BackwardWatch] | None = None
    """Called with each backward call that begins, the grad nodes it has reached, and what it was
    given: tensors and the gradients to begin with."""

    def __init__(  # noqa: PLR0915  (what it has, a line each)
        self, paddle: Any, *, anchor: FrameType | None = None, keeps_callers: bool = True
    ) -> None:
        self.stacks = StackPool()
        self.ops = Tape()
        """Rows of :class:`OpCell`, each with its inputs and outputs."""
        self.parameter_type = DOOR.parameter_type if DOOR.has("tensors") else NoneType
        self.tensors = TensorPool(
            self.parameter_type,
            self.ops,
            reads_place=paddle.is_compiled_with_cuda()
            or paddle.is_compiled_with_xpu()
            or bool(paddle.device.get_all_custom_device_type()),
        )
        self.layers = LayerPool()
        self.attributes: dict[Any, int] = {(): 0}
        self._next_attributes = count(1).__next__
        self.scopes = Tape()
        """Rows of :class:`ScopeCell`."""
        self.scope_names: dict[str, int] = {"": 0}
        self.loops: list[LoopRow] = []
        self.turn_rows = Tape()
        """Rows of :class:`TurnCell`."""
        self.turn_values: list[Any] = []
        """What loops' variables had: numbers and texts."""
        self.backward_calls: list[BackwardCallRow] = []
        self.notices: list[str] = []
        """Sentences about what the trace could not see."""
        self.results = Tape()
        """Of each result: op of a PyLayer, tensor its own ops made."""
        self.scope_ops: dict[int, int] = {}
        """Scope of a PyLayer call to the PyLayer's own op."""
        self.backward_of: dict[int, int] = {}
        """Scope of a PyLayer's backward to the scope of its forward."""
        self.eval_scopes = Tape()
        """Scopes of calls of layers in eval mode."""
        self.events = EventLog(self)
        self.programs, self.optimizers = ProgramLog(), OptimizerLog(self)
        self.step_gradients = StepGradients(self)
        self.pylayer_rules = PyLayerRules(self)
        self.tensor_lives = TensorLives(self)
        self.collectors: list[Collector] = []
        """What collects evidence that was asked for."""
        self.grad_values: dict[int, Any] = {}
        """Row of ``grad_stats`` to the gradient itself, for the region that was asked for."""
        self.on_op: Callable[[int, Any], None] | None = None
        """Called with each op that returned, and what it returned; set before hooks open."""
        self._contexts: dict[int, tuple[weakref.ref[Any], int]] = {}
        self.backward = BackwardGraphs(self.tensors, paddle.Tensor)
        self.tensor_type = paddle.Tensor
        self.threads: dict[int, ThreadState] = {}
        self.native_threads: dict[int, int] = {}
        """The operating system's ids of threads to their numbers. Python gives the identity of a
        thread that has ended to a later one, which then has its number and an id of its own."""
        self._next_thread: Callable[[], int] = count().__next__
        self.next_op = Counter()
        self.next_scope = Counter()
        self.next_backward_call: Callable[[], int] = count().__next__
        self.turns = TurnTracker(
            self.scopes,
            self.next_scope,
            self.turn_rows,
            self.turn_values,
            CodeDescriber(paddle, self.loops, self.scope_name_key),
        )
        """Tells calls of the user's functions and turns of their loops."""
        self.alone = (self,)
        """What ``SINKS.active`` is while only this recorder listens."""
        state = self.thread()
        if anchor is not None and keeps_callers:
            state.anchor_stack = self.stacks.take(anchor, None, NO_STACK)
        state.anchor = anchor
        self.start_ns = perf_counter_ns()

    def thread(self) -> ThreadState:
        """Return the state of the calling thread."""
        identity = get_ident()
        state = self.threads.get(identity)
        if state is None:
            if self.threads:
                # Others are at work whenever one's backward call begins.
                ALLOCATOR_LOG.keep_grad_nodes()
            state = self.threads[identity] = ThreadState(self._next_thread())
            self.native_threads[get_native_id()] = state.number
        return state

    def abandon(self, error: Exception) -> None:
        """Stop recording after a fault of our own; the traced code goes on undisturbed."""
        if not self._has_failed:
            self._has_failed = True
            self.notices.append(say("notices.fault.incomplete", fault=described(error)))
        SINKS.active = tuple(other for other in SINKS.active if other is not self)

    # -- ops ----------------------------------------------------------------------------------

    def begin_op(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[int], list[Any]]:
        """Resolve an op's inputs before it runs, since it may modify them in place.

        Returns
        -------
        inputs, attributes
            Alternating argument position and tensor row; the arguments that are no tensors.
        """
        inputs: list[int] = []
        attributes: list[Any] = []
        slot = 0
        for argument in args:
            self.resolve(slot, argument, inputs, attributes)
            slot += 1
        for name, argument in kwargs.items():
            named: list[Any] = []
            self.resolve(slot, argument, inputs, named)
            attributes.extend((name, value) for value in named)
            slot += 1
        return inputs, attributes

    def resolve(self, slot: int, argument: Any, inputs: list[int], attributes: list[Any]) -> None:
        """Resolve one argument: a tensor, a list of tensors, of numbers or of both, a value."""
        if isinstance(argument, self.tensor_type):
            inputs.append(slot)
            inputs.append(self.tensors.key_of(argument))
        elif isinstance(argument, (list, tuple)):
            found = False
            for value in flat(argument):
                if isinstance(value, self.tensor_type):
                    inputs.append(slot)
                    inputs.append(self.tensors.key_of(value))
                    found = True
            if not found:
                attributes.append(tuple(argument))
        else:
            attributes.append(argument)

    def end_op(
        self,
        name: str,
        args: tuple[Any, ...],
        resolved: tuple[list[int], list[Any]],
        result: Any,
        start_ns: int,
        end_ns: int,
        frame: FrameType | None,
        *,
        is_pylayer: bool = False,
        phase: int | None = None,
    ) -> int:
        """Record an op that returned; returns its key."""
        state = self.threads.get(get_ident())
        if state is None:
            state = self.thread()
        op: int = self.next_op()
        outputs: list[int] = []
        made = self._modified(args) if result is None else result
        self.produce_all(made, op, outputs)
        inputs, attributes = resolved
        stack = self.stacks.take(frame, state.anchor, state.anchor_stack)
        scope = self.turns.scope_at(frame, state.anchor, state.scope, state.number)
        self.ops.extend(
            (
                op, len(inputs), len(outputs), OP_NAMES.key(name), scope, stack, state.number,
                start_ns, end_ns - start_ns, state.phase if phase is None else phase,
                self.attributes_key(attributes), is_pylayer, False, *inputs, *outputs,
            )
        )  # fmt: skip
        if self.on_op is not None:
            self.on_op(op, made)
        if op >= self.next_op.alarm:
            self.reach_limit()
        return op

    def fail_op(
        self,
        name: str,
        resolved: tuple[list[int], list[Any]],
        start_ns: int,
        end_ns: int,
        frame: FrameType | None,
        *,
        is_pylayer: bool = False,
    ) -> int:
        """Record an op that raised: it has inputs and a stack, and no outputs; returns its key."""
        state = self.thread()
        op: int = self.next_op()
        stack = self.stacks.take(frame, state.anchor, state.anchor_stack)
        scope = self.turns.scope_at(frame, state.anchor, state.scope, state.number)
        inputs, attributes = resolved
        self.ops.extend(
            (
                op, len(inputs), 0, OP_NAMES.key(name), scope, stack, state.number, start_ns,
                end_ns - start_ns, state.phase, self.attributes_key(attributes), is_pylayer, True,
                *inputs,
            )
        )  # fmt: skip
        if op >= self.next_op.alarm:
            self.reach_limit()
        return op

    def reach_limit(self) -> None:
        """Make room: an op has the key that the alarm was set to, and its row is written."""
        if self.limiter is not None:
            self.limiter.reach()

    def attributes_key(self, attributes: list[Any]) -> int:
        """Return the key of an op's arguments that are no tensors; equal ones share it."""
        # 1, 1.0 and True are equal, yet are not the same argument.
        signature: Any = (*attributes, *map(type, attributes))
        try:
            known = self.attributes.get(signature)
        except TypeError:  # an argument that cannot be hashed
            signature = attribute_text(attributes)
            known = self.attributes.get(signature)
        if known is None:
            # No key is given twice, although those that nobody uses any more are dropped.
            known = self.attributes.setdefault(signature, self._next_attributes())
        return known

    def each_op(self, start: int = 0) -> Iterator[tuple[list[Any], list[int], list[int]]]:
        """Iterate over ops' cells, inputs and outputs from cell ``start`` of :attr:`ops` on."""
        cells, position = self.ops.to_list(start), 0
        while position < len(cells):
            inputs_start = position + OP_CELLS
            inputs_end = inputs_start + cells[position + OpCell.INPUT_CELLS]
            outputs_end = inputs_end + cells[position + OpCell.OUTPUTS]
            head: list[Any] = cells[position:inputs_start]
            head[OpCell.NAME] = OP_NAMES.name(head[OpCell.NAME])
            yield (
                head,
                cells[inputs_start:inputs_end],
                cells[inputs_end:outputs_end],
            )
            position = outputs_end

    def _modified(self, args: tuple[Any, ...]) -> list[Any]:
        """Return the tensors among ``args`` that an op which returned nothing has written to."""
        return [
            value
            for value in args
            if isinstance(value, self.tensor_type) and self.tensors.is_modified(value)
        ]

    def produce_all(self, result: Any, op: int, outputs: list[int]) -> None:
        """Make rows for all tensors in a nested result, in order."""
        for value in flat(result):
            if isinstance(value, self.tensor_type):
                key = self.tensors.produce(value, op)
                outputs.append(key)

    # -- PyLayers -----------------------------------------------------------------------------

    def known_keys(self, result: Any) -> list[int]:
        """Return the rows that tensors in a nested result have so far."""
        keys = [
            self.tensors.known_key(value)
            for value in flat(result)
            if isinstance(value, self.tensor_type)
        ]
        return [key for key in keys if key != NO_KEY]

    def note_pylayer_context(self, context: Any, scope: int) -> None:
        """Note in which PyLayer call a context object was made."""
        self._contexts[id(context)] = (weakref.ref(context), scope)

    def pylayer_scope_of(self, context: Any) -> int:
        """Return the scope of the PyLayer call that made ``context``, or -1."""
        known = self._contexts.get(id(context))
        return known[1] if known is not None and known[0]() is context else NO_KEY

    def forget_contexts(self) -> None:
        """Forget the contexts of PyLayers that have died."""
        for identity, (context, _) in list(self._contexts.items()):
            if context() is None:
                del self._contexts[identity]

    # -- layers ---------------------------------------------------------------------------------

    def enter_layer(self, layer: Any, frame: FrameType) -> tuple[ThreadState, Saved]:
        """Open the scope of a layer's call and anchor stacks at ``frame``, the wrapper's own.

        Returns
        -------
        state, saved
            The thread, and what it is to restore when the call ends.
        """
        state = self.thread()
        saved = state.save()
        caller = frame.f_back
        key = self.layers.key_of(layer, state.layer, caller)
        parent = self.turns.scope_at(caller, state.anchor, state.scope, state.number)
        scope: int = self.next_scope()
        self.scopes.extend((scope, LAYER, 0, parent, key, NO_KEY, state.number))
        if not getattr(layer, "training", True):
            self.eval_scopes.extend((scope,))
        stack = self.stacks.take(caller, state.anchor, state.anchor_stack)
        state.scope, state.layer, state.anchor, state.anchor_stack = scope, key, frame, stack
        return state, saved

    def each_scope(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the scopes' cells by key, with the names for their keys."""
        names = list(self.scope_names)
        for key, kind, name, *cells in sorted(rows_of(self.scopes, SCOPE_CELLS)):
            yield key, kind, names[name], *cells

    # -- scopes -------------------------------------------------------------------------------

    def open_scope(
        self,
        state: ThreadState,
        kind: int,
        name: str,
        frame: FrameType | None,
        *,
        backward_call: int = NO_KEY,
    ) -> int:
        """Record a scope inside what is open at ``frame`` and make it the present one."""
        parent = self.turns.scope_at(frame, state.anchor, state.scope, state.number)
        scope: int = self.next_scope()
        name_key = self.scope_name_key(name)
        self.scopes.extend((scope, kind, name_key, parent, NO_KEY, backward_call, state.number))
        state.scope = scope
        return scope

    def scope_name_key(self, name: str) -> int:
        """Return the key of a scope's name."""
        return self.scope_names.setdefault(name, len(self.scope_names))

    def anchor(self, state: ThreadState, frame: FrameType) -> None:
        """Take the stack at ``frame``'s caller, and walk only as far as ``frame`` from now on."""
        state.anchor_stack = self.stacks.take(frame.f_back, state.anchor, state.anchor_stack)
        state.anchor = frame
