"""What runs around every op of a traced cell. What it costs is what a trace costs."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from sys import _getframe
from time import perf_counter_ns
from typing import Any
from weakref import ref

from paddle_lab.capture.grad_fn import GRAD_FN
from paddle_lab.capture.recorder import Recorder
from paddle_lab.capture.sinks import SINKS
from paddle_lab.capture.tensors import ACTIVATION, LARGEST_VERSION, NO_KEY, VERSION_BITS
from paddle_lab.capture.tracebacks import drop_frame

_PLAIN_TYPES = frozenset((int, float, bool, str, type(None), complex))

Wrap = Callable[[Any, str], Callable[..., Any]]
"""An op's function and name to the function that stands in for it."""
Listen = Callable[[Recorder | None], None]


def make_op_wrapper(tensor_type: Any) -> tuple[Wrap, Listen]:  # noqa: C901, PLR0915  (one hot path)
    """Return what wraps ops, and what lets a recorder own the wrappers' fast path.

    The fast path is written out for the one recorder that almost always listens alone, with that
    recorder's parts in variables that all wrappers share. Everything rare goes to the recorder's
    methods, which say the same at length.

    Parameters
    ----------
    tensor_type
        ``paddle.Tensor``.
    """
    owner: Any = None
    sole: Any = None
    tensor_types: Any = frozenset()
    known: Any = None
    known_rows: Any = None
    known_of: Any = None
    key_of: Any = None
    next_tensor: Any = None
    reads_place = False
    add_row: Any = None
    shape_of: Any = None
    shape_key: Any = None
    address_of: Any = None
    drop_surplus: Any = None
    resolve: Any = None
    next_op: Any = None
    attributes_key: Any = None
    add_op: Any = None
    thread_of: Any = None
    new_thread: Any = None
    take: Any = None

    def listen_for(recorder: Recorder | None) -> None:
        nonlocal owner, sole, tensor_types, known, known_rows, known_of, key_of, next_tensor
        nonlocal reads_place, add_row, shape_of, shape_key, address_of, drop_surplus, resolve
        nonlocal next_op, attributes_key, add_op, thread_of, new_thread, take
        owner, sole = recorder, None
        if recorder is None:
            known = known_rows = known_of = key_of = next_tensor = add_row = None
            shape_of = shape_key = address_of = resolve = next_op = attributes_key = None
            add_op = thread_of = new_thread = take = None
            return
        tensors = recorder.tensors
        tensor_types = recorder.tensor_types
        known, known_rows, known_of = tensors.known, tensors.known_rows, tensors.known.get
        key_of, next_tensor, reads_place = tensors.key_of, tensors.next_key, tensors.reads_place
        add_row = tensors.rows.add
        shape_of, shape_key = tensors.shapes.get, tensors.shape_key
        address_of, drop_surplus = GRAD_FN.address, GRAD_FN.drop_surplus
        resolve, next_op = recorder.resolve, recorder.next_op
        attributes_key = recorder.attributes_key
        add_op = recorder.ops.extend
        thread_of, new_thread, take = recorder.threads.get, recorder.thread, recorder.stacks.take
        sole = recorder.alone

    def wrap(function: Any, name: str) -> Callable[..., Any]:  # noqa: C901, PLR0915
        def op(*args: Any, **kwargs: Any) -> Any:  # noqa: C901, PLR0912, PLR0915
            active = SINKS.active
            if active is not sole or not active:
                if active:
                    try:
                        return _run_for_all(function, name, tensor_type, args, kwargs)
                    except BaseException as error:
                        drop_frame(error)
                        raise
                return function(*args, **kwargs)
            inputs: list[int] = []
            attributes: list[Any] = []
            try:
                slot = 0
                for argument in args:
                    kind = type(argument)
                    if kind in tensor_types:
                        identity = id(argument)
                        reference = known_of(identity)
                        inputs.append(slot)
                        if (
                            reference is not None
                            and reference() is argument
                            and known_rows[identity] & LARGEST_VERSION
                            == argument._inplace_version()
                        ):
                            inputs.append(known_rows[identity] >> VERSION_BITS)
                        else:
                            inputs.append(key_of(argument))
                    elif kind in _PLAIN_TYPES:
                        attributes.append(argument)
                    else:
                        resolve(slot, argument, inputs, attributes)
                    slot += 1  # noqa: SIM113  (enumerate() would make a tuple each)
                if kwargs:
                    inputs, attributes = owner.begin_op(args, kwargs)
            except Exception as error:  # noqa: BLE001  (the user's code goes on)
                owner.abandon(error)
            start_ns = perf_counter_ns()
            result: Any
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                if active is SINKS.active and not _is_end_of_iteration(name, error):
                    end_ns = perf_counter_ns()
                    owner.fail_op(name, (inputs, attributes), start_ns, end_ns, _getframe(1))
                drop_frame(error)
                raise
            end_ns = perf_counter_ns()
            if active is not SINKS.active:
                return result
            try:
                identity = id(result)
                reference = known_of(identity)
                kind = type(result)
                if kind is not tensor_type or (reference is not None and reference() is result):
                    if _ran_eagerly(result, inputs, tensor_type):
                        resolved = (inputs, attributes)
                        owner.end_op(name, args, resolved, result, start_ns, end_ns, _getframe(1))
                    return result
                state = thread_of(get_ident()) or new_thread()
                key = next_op()
                # Made by an op and new: initialised unless of no elements, which may be asked for
                # shape, dtype and version all the same; and no leaf unless it needs no gradient.
                tensor = next_tensor()
                version = result._inplace_version()
                is_constant = result.stop_gradient
                known[identity] = ref(result)
                known_rows[identity] = tensor << VERSION_BITS | version
                shape = shape_of(tuple(result.shape))
                if shape is None:
                    shape = shape_key(result)
                address = 0
                if not is_constant:
                    if drop_surplus is None:
                        address = address_of(result) or 0
                    else:
                        node = result.grad_fn
                        if node is not None:
                            address = node.node_ptr()
                            drop_surplus(node)
                add_row(
                    (
                        tensor, shape, result.dtype, _place_of(result) if reads_place else None,
                        is_constant, version, ACTIVATION, key, NO_KEY, NO_KEY, "", identity,
                        address,
                    )
                )  # fmt: skip
                add_op(
                    (
                        key, len(inputs), 1, name, state.scope,
                        take(_getframe(1), state.anchor, state.anchor_stack), state.number,
                        start_ns, end_ns - start_ns, state.phase,
                        attributes_key(attributes) if attributes else 0, False, False, *inputs,
                        tensor,
                    )
                )  # fmt: skip
            except Exception as error:  # noqa: BLE001  (the user's code goes on)
                owner.abandon(error)
            return result

        op.__name__ = op.__qualname__ = getattr(function, "__name__", name)
        op.__doc__ = getattr(function, "__doc__", None)
        op.__wrapped__ = function  # type: ignore[attr-defined]
        return op

    return wrap, listen_for


def _run_for_all(
    function: Any, name: str, tensor_type: type, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Do what ``op`` does, for the recorders of traces inside traces."""
    active = SINKS.active
    frame = _getframe(2)
    resolved = [recorder.begin_op(args, kwargs) for recorder in active]
    start_ns = perf_counter_ns()
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        end_ns = perf_counter_ns()
        if not _is_end_of_iteration(name, error):
            for recorder, inputs in zip(active, resolved, strict=True):
                recorder.fail_op(name, inputs, start_ns, end_ns, frame)
        drop_frame(error)
        raise
    end_ns = perf_counter_ns()
    if _ran_eagerly(result, resolved[0][0], tensor_type):
        for recorder, inputs in zip(active, resolved, strict=True):
            recorder.end_op(name, args, inputs, result, start_ns, end_ns, frame)
    return result


def _place_of(tensor: Any) -> Any:
    return tensor.place if tensor._is_initialized() else None


def _ran_eagerly(result: Any, inputs: list[int], tensor_type: type) -> bool:
    """Tell an op that ran from one that only joined a static program (its values are no tensors).

    Comparisons may also answer ``NotImplemented`` or a plain ``False``: no op ran then.
    """
    if isinstance(result, tensor_type):
        return True
    if result is None:
        return bool(inputs)
    if isinstance(result, (tuple, list)):
        return bool(inputs) or any(isinstance(value, tensor_type) for value in result)
    return False


def _is_end_of_iteration(name: str, error: BaseException) -> bool:
    # ``for row in tensor`` asks for one row more than there is.
    return name == "getitem" and isinstance(error, IndexError)
