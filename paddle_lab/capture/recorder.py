"""The recorder of one trace: what the hooks call while the traced code runs.

The hot path is :meth:`Recorder.begin_op` and :meth:`Recorder.end_op`, called around every op. They
append plain tuples; :mod:`paddle_lab.capture.assembly` turns them into columns when the trace ends.
"""

from __future__ import annotations

import weakref
from _thread import get_ident
from collections.abc import Callable
from itertools import count
from time import perf_counter_ns
from types import FrameType
from typing import Any

from paddle_lab.capture.grad_nodes import GradNodePool, Upstream
from paddle_lab.capture.layers import LayerPool
from paddle_lab.capture.stacks import NO_STACK, StackPool
from paddle_lab.capture.tensors import NO_KEY, TensorPool
from paddle_lab.capture.thread_state import ThreadState
from paddle_lab.trace.schema import ROLES, SCOPE_KINDS

INPUT = ROLES.index("input")
OUTPUT = ROLES.index("output")
RESULT = ROLES.index("result")
LAYER, REGION, PYLAYER, BACKWARD_CALL, OPTIMIZER_STEP = range(len(SCOPE_KINDS))

OpRow = tuple[int, str, int, int, int, int, int, int, Any, bool, bool, list[int], list[int]]
"""key, name, scope, stack, thread, start, duration, phase, attributes, is_pylayer, raised, inputs
(alternating slot and tensor), outputs (tensors)."""
ScopeRow = tuple[int, int, str, int, int, int, int]
"""key, kind, name, parent, layer, backward call, thread."""
BackwardCallRow = tuple[int, int, int, int, int, bool, str]
"""key, kind, stack, scope, ops before, create_graph, error."""


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

    def __init__(
        self, paddle: Any, *, anchor: FrameType | None = None, keeps_callers: bool = True
    ) -> None:
        self.stacks = StackPool()
        parameter_type = paddle.base.framework.EagerParamBase
        self.tensors = TensorPool(
            parameter_type,
            reads_place=paddle.is_compiled_with_cuda()
            or paddle.is_compiled_with_xpu()
            or bool(paddle.device.get_all_custom_device_type()),
        )
        self.layers = LayerPool()
        self.grad_nodes = GradNodePool(self._upstream_of)
        self._inputs: dict[int, list[int]] = {}
        self._indexed = 0
        self.ops: list[OpRow] = []
        self.scopes: list[ScopeRow] = []
        self.backward_calls: list[BackwardCallRow] = []
        self.notices: list[str] = []
        self.results: list[tuple[int, int]] = []
        """(op of a PyLayer, tensor its own ops made)."""
        self.scope_ops: dict[int, int] = {}
        """Scope of a PyLayer call to the PyLayer's own op."""
        self.backward_of: dict[int, int] = {}
        """Scope of a PyLayer's backward to the scope of its forward."""
        self.leaf_tensors: dict[int, int] = {}
        """Key of an accumulation node to the row of the tensor it accumulates into."""
        self._contexts: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._tensor_types = frozenset((paddle.Tensor, parameter_type))
        self._tensor_type = paddle.Tensor
        self._threads: dict[int, ThreadState] = {}
        self._next_thread: Callable[[], int] = count().__next__
        self._next_op: Callable[[], int] = count().__next__
        self._next_scope: Callable[[], int] = count().__next__
        self.next_backward_call: Callable[[], int] = count().__next__
        state = self.thread()
        if anchor is not None and keeps_callers:
            state.anchor_stack = self.stacks.take(anchor, None, NO_STACK)
        state.anchor = anchor
        self.start_ns = perf_counter_ns()

    def thread(self) -> ThreadState:
        """Return the state of the calling thread."""
        identity = get_ident()
        state = self._threads.get(identity)
        if state is None:
            state = self._threads[identity] = ThreadState(self._next_thread())
        return state

    # -- ops ----------------------------------------------------------------------------------

    def begin_op(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[int], list[Any]]:
        """Resolve an op's inputs before it runs, since it may modify them in place.

        Returns
        -------
        inputs, attributes
            Alternating argument position and tensor row; the arguments that are no tensors.
        """
        inputs: list[int] = []
        attributes: list[Any] = []
        tensor_types = self._tensor_types
        key_of = self.tensors.key_of
        slot = 0
        for argument in args:
            kind = type(argument)
            if kind in tensor_types:
                inputs.append(slot)
                inputs.append(key_of(argument))
            elif kind is list or kind is tuple:
                self._resolve_sequence(slot, argument, inputs, attributes)
            elif isinstance(argument, self._tensor_type):
                inputs.append(slot)
                inputs.append(key_of(argument))
            else:
                attributes.append(argument)
            slot += 1
        if kwargs:
            for name, argument in kwargs.items():
                if isinstance(argument, self._tensor_type):
                    inputs.append(slot)
                    inputs.append(key_of(argument))
                elif isinstance(argument, (list, tuple)):
                    self._resolve_sequence(slot, argument, inputs, attributes)
                else:
                    attributes.append((name, argument))
                slot += 1
        return inputs, attributes

    def _resolve_sequence(
        self, slot: int, values: Any, inputs: list[int], attributes: list[Any]
    ) -> None:
        """Resolve an argument that is a list: of tensors, of numbers, or (an index) of both."""
        found = False
        for value in _flat(values):
            if isinstance(value, self._tensor_type):
                inputs.append(slot)
                inputs.append(self.tensors.key_of(value))
                found = True
        if not found:
            attributes.append(tuple(values))

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
        state = self._threads.get(get_ident())
        if state is None:
            state = self.thread()
        op = self._next_op()
        outputs: list[int] = []
        if type(result) in self._tensor_types:
            key = self.tensors.produce(result, op)
            outputs.append(key)
            if not result.stop_gradient:
                self.tensors.note_grad_node(result, key, op)
        elif result is None:
            self.produce_all(self._modified(args), op, outputs)
        else:
            self.produce_all(result, op, outputs)
        inputs, attributes = resolved
        self.ops.append(
            (
                op,
                name,
                state.scope,
                self.stacks.take(frame, state.anchor, state.anchor_stack),
                state.number,
                start_ns,
                end_ns - start_ns,
                state.phase if phase is None else phase,
                attributes,
                is_pylayer,
                False,
                inputs,
                outputs,
            )
        )
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
        op = self._next_op()
        stack = self.stacks.take(frame, state.anchor, state.anchor_stack)
        inputs, attributes = resolved
        self.ops.append(
            (
                op, name, state.scope, stack, state.number, start_ns, end_ns - start_ns,
                state.phase, attributes, is_pylayer, True, inputs, [],
            )
        )  # fmt: skip
        return op

    def _modified(self, args: tuple[Any, ...]) -> list[Any]:
        """Return the tensors among ``args`` that an op which returned nothing has written to."""
        return [
            value
            for value in args
            if isinstance(value, self._tensor_type) and self.tensors.is_modified(value)
        ]

    def produce_all(self, result: Any, op: int, outputs: list[int]) -> None:
        """Make rows for all tensors in a nested result, in order."""
        for value in _flat(result):
            if isinstance(value, self._tensor_type):
                key = self.tensors.produce(value, op)
                outputs.append(key)
                if value._is_initialized():
                    self.tensors.note_grad_node(value, key, op)

    # -- PyLayers -----------------------------------------------------------------------------

    def known_keys(self, result: Any) -> list[int]:
        """Return the rows that tensors in a nested result have so far."""
        keys = [
            self.tensors.known_key(value)
            for value in _flat(result)
            if isinstance(value, self._tensor_type)
        ]
        return [key for key in keys if key != NO_KEY]

    def note_pylayer_context(self, context: Any, scope: int) -> None:
        """Note in which PyLayer call a context object was made."""
        self._contexts[id(context)] = (weakref.ref(context), scope)

    def pylayer_scope_of(self, context: Any) -> int:
        """Return the scope of the PyLayer call that made ``context``, or -1."""
        known = self._contexts.get(id(context))
        return known[1] if known is not None and known[0]() is context else NO_KEY

    # -- backward graphs ----------------------------------------------------------------------

    def walk_backward(self, tensors: Any, backward_call: int) -> dict[int, tuple[Any, int]]:
        """Record the graph that hangs on ``tensors``; see :meth:`GradNodePool.walk`."""
        roots = []
        for tensor in _flat(tensors):
            node = tensor.grad_fn if isinstance(tensor, self._tensor_type) else None
            if node is not None:
                key = self.tensors.known_key(tensor)
                roots.append((node, self.tensors.producers.get(key, NO_KEY)))
        known_leaves = len(self.grad_nodes.leaf_keys)
        reached = self.grad_nodes.walk(roots, backward_call=backward_call)
        if len(self.grad_nodes.leaf_keys) > known_leaves:
            self._name_leaves()
        return reached

    def walk_remaining(self, backward_call: int) -> bool:
        """Record the graphs of living tensors that no backward call has reached.

        Returns
        -------
        bool
            Whether there were any.
        """
        waiting = []
        for tensor, key in self.tensors.living():
            address = self.tensors.grad_addresses.get(key)
            if address is None:
                continue
            op = self.tensors.producers[key]
            if not self.grad_nodes.is_recorded(address, op):
                waiting.append(tensor)
        if waiting:
            self.walk_backward(waiting, backward_call)
        return bool(waiting)

    def grad_nodes_of(self, result: Any) -> list[Any]:
        """Return the grad nodes of the tensors in a nested result."""
        nodes = [
            value.grad_fn
            for value in _flat(result)
            if isinstance(value, self._tensor_type) and value._is_initialized()
        ]
        return [node for node in nodes if node is not None]

    def _name_leaves(self) -> None:
        """Find the tensors behind new accumulation nodes, while both are alive."""
        for tensor, key in self.tensors.living():
            if not tensor.stop_gradient and tensor.is_leaf:
                node = tensor.grad_fn
                if node is not None:
                    leaf = self.grad_nodes.leaf_keys.get(node.node_ptr())
                    if leaf is not None:
                        self.leaf_tensors.setdefault(leaf, key)

    def _upstream_of(self, op: int) -> Upstream:
        for row in self.ops[self._indexed :]:
            self._inputs[row[0]] = row[11]
        self._indexed = len(self.ops)
        inputs = self._inputs.get(op, ())
        addresses, producers = self.tensors.grad_addresses, self.tensors.producers
        return {addresses[tensor]: (producers[tensor], tensor) for tensor in inputs[1::2] if tensor in addresses}

    # -- scopes -------------------------------------------------------------------------------

    def open_scope(
        self,
        state: ThreadState,
        kind: int,
        name: str,
        *,
        layer: int = NO_KEY,
        backward_call: int = NO_KEY,
    ) -> int:
        """Record a scope inside the thread's present one and make it the present one."""
        scope = self._next_scope()
        self.scopes.append((scope, kind, name, state.scope, layer, backward_call, state.number))
        state.scope = scope
        return scope

    def anchor(self, state: ThreadState, frame: FrameType) -> None:
        """Take the stack at ``frame``'s caller, and walk only as far as ``frame`` from now on."""
        state.anchor_stack = self.stacks.take(frame.f_back, state.anchor, state.anchor_stack)
        state.anchor = frame


def _flat(values: Any) -> list[Any]:
    """Return what is in nested lists and tuples, in order."""
    flat: list[Any] = []
    pending = [values]
    while pending:
        value = pending.pop()
        if isinstance(value, (list, tuple)):
            pending.extend(reversed(value))
        else:
            flat.append(value)
    return flat
