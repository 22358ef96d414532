"""Records calls of Paddle and NumPy that control training: modes, schedulers, seeds, checkpoints.

Each call becomes a ``called`` event. Its detail has the name of the function and data for the
checks. For each line, at most 64 calls of a function are recorded.
"""

from __future__ import annotations

import sys
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.constant_seeds import constant_seed, item_seed
from paddle_lab.capture.evidence.events.noting import Call, noted
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.hooks.search import with_subclasses
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.rows.cells import NO_KEY

_MOST_OF_A_LINE = 64
_LENGTH, _LENGTHS = "schedule_length", {"T_max", "decay_steps"}
_Details = Callable[[Recorder, Call], tuple[str, Any] | None]
"""Returns what the checks need to know about a call, and the tensor concerned or ``None``."""


def training_call_patches(paddle: Any) -> list[AttributePatch]:
    """Return the patches that record ``called`` events."""
    layer, schedule = paddle.nn.Layer, paddle.optimizer.lr.LRScheduler
    optimizer, scaler = paddle.optimizer.Optimizer, paddle.amp.GradScaler
    utils, clips = paddle.nn.utils, paddle.nn.clip
    before: dict[tuple[Any, str], _Details] = {
        (layer, "set_state_dict"): _loaded,
        (optimizer, "clear_grad"): _optimizer,
        (paddle, "save"): _loaded,
    }
    after: dict[tuple[Any, str], _Details] = {
        (layer, "eval"): _mode,
        (layer, "state_dict"): _taken,
        (layer, "register_forward_pre_hook"): _hooked_layer,
        (layer, "register_forward_post_hook"): _layer,
        (layer, "clear_gradients"): _layer,
        (paddle.Tensor, "register_hook"): _hooked,
        (paddle.DataParallel, "__init__"): _layer,
        (paddle.nn.LayerList, "__init__"): _repeated,
        (paddle.nn.Sequential, "__init__"): _repeated,
        (paddle.nn.initializer.Initializer, "__call__"): _initialised,
        (schedule, "__init__"): _schedule,
        (paddle, "seed"): _first,
        (paddle.io.DataLoader, "__iter__"): _loader,
        (np.random, "seed"): _first,
        (np.random, "default_rng"): _first,
        (np.random, "set_state"): _nothing,
        (np.random, "shuffle"): _shuffled,
        (np.random, "permutation"): _shuffled,
        (utils, "clip_grad_norm_"): _nothing,
        (utils, "clip_grad_value_"): _nothing,
        **{(kind, "__init__"): _identity for kind in with_subclasses(clips.ClipGradBase)
           if kind is not clips.ClipGradBase and "__init__" in vars(kind)},
        **{(kind, "step"): _scheduler for kind in with_subclasses(schedule)
           if "step" in vars(kind)},
        **{(scaler, name): _optimizer for name in ("scale", "unscale_", "step", "minimize")
           if name in vars(scaler)},
    }  # fmt: skip
    thaws, trains = _noting("thawed", _thawed), _noting("train", _mode)
    makers = [noted((layer, "train"), trains, before=thaws)]
    for place, details in before.items():
        makers.append(noted(place, before=_noting(place[1], details)))
    for place, details in after.items():
        makers.append(noted(place, _noting(f"{_owner(place)}{place[1]}", details)))
    return makers


def _owner(place: tuple[Any, str]) -> str:
    is_shared = place[1] in {"__init__", "step", "__iter__", "__call__", "minimize"}
    return f"{place[0].__name__}." if is_shared else ""


def _noting(name: str, details: _Details) -> Callable[[Recorder, Call], None]:
    def note(recorder: Recorder, call: Call) -> None:
        log = recorder.events.calls_of_lines
        line = name, id(call.frame.f_code), call.frame.f_lineno
        log[line] = log.get(line, 0) + 1
        if log[line] > _MOST_OF_A_LINE:
            return
        try:
            told = details(recorder, call)
        except Exception as fault:  # noqa: BLE001  (a class of the user's, with methods of its own)
            recorder.events.miss_call(name, fault)
            return
        if told is not None:
            key = NO_KEY
            if told[1] is not None and DOOR.is_initialized(told[1]):
                key = recorder.tensors.key_of(told[1])
            recorder.events.note("called", call.frame, tensor=key, detail=f"{name} {told[0]}")

    return note


def _paddle() -> Any:
    return sys.modules["paddle"]


def _nothing(_recorder: Recorder, _call: Call) -> tuple[str, Any]:
    return "", None


def _first(_recorder: Recorder, call: Call) -> tuple[str, Any]:
    return repr(next(iter((*call.args, *call.kwargs.values())), None))[:40], None


def _shuffled(recorder: Recorder, call: Call) -> tuple[str, Any] | None:
    given = call.args[0] if call.args else None
    if not isinstance(given, np.ndarray) or not given.ndim:
        return None
    return f"{len(given)} {given.dtype.kind} {recorder.events.number_of(given)}", None


def _identity(recorder: Recorder, call: Call) -> tuple[str, Any]:
    one = call.args[0]
    return f"{type(one).__name__} {recorder.events.number_of(one)}", None


def _schedule(recorder: Recorder, call: Call) -> tuple[str, Any]:
    told, own = _identity(recorder, call), vars(call.args[0])
    for name in _LENGTHS & own.keys():
        recorder.events.note("called", call.frame, detail=f"{_LENGTH} {own[name]} {told[0]}")
    return told


def _scheduler(recorder: Recorder, call: Call) -> tuple[str, Any] | None:
    # Paddle's own code steps a new scheduler once, and steps schedulers inside other schedulers.
    is_own = call.frame.f_globals.get("__name__") == "paddle.optimizer.lr"
    return None if is_own else _identity(recorder, call)


def _optimizer(recorder: Recorder, call: Call) -> tuple[str, Any]:
    optimizer = next(
        (one for one in call.args if isinstance(one, _paddle().optimizer.Optimizer)), None
    )
    return (str(recorder.optimizers.entry(optimizer).number) if optimizer is not None else ""), None


def _loader(recorder: Recorder, call: Call) -> tuple[str, Any] | None:
    loader = call.args[0]
    number = recorder.events.number_of(loader)
    sampler = getattr(getattr(loader, "batch_sampler", None), "sampler", None)
    function = getattr(loader, "worker_init_fn", None)
    worker = constant_seed(function) if getattr(loader, "num_workers", 0) > 1 else None
    item = item_seed(getattr(loader, "dataset", None))
    for name, place in (("worker_init_fn", worker), ("item_seed", item)):
        if place is not None:
            recorder.events.note("called", call.frame, detail=name, places=[place])
    try:
        return f"{number} {len(loader)} {type(sampler).__name__}", None
    except Exception:  # noqa: BLE001  (an iterable data set has no length)
        return f"{number} 0 None", None


def _parameter(layer: Any) -> Any:
    return next(iter(layer.parameters()), None)


def _layer(recorder: Recorder, call: Call) -> tuple[str, Any]:
    layer = call.args[0]
    return f"{type(layer).__name__} {recorder.events.number_of(layer)}", _parameter(layer)


def _hooked_layer(recorder: Recorder, call: Call) -> tuple[str, Any]:
    described, parameter = _layer(recorder, call)
    return f"{described} {type(call.args[1]).__name__}", parameter


def _hooked(recorder: Recorder, call: Call) -> tuple[str, Any] | None:
    tensor = call.args[0]
    return ("", tensor) if isinstance(tensor, recorder.parameter_type) else None


def _mode(_recorder: Recorder, call: Call) -> tuple[str, Any]:
    layer = call.args[0]
    return f"{type(layer).__name__} {int(layer.training)}", _parameter(layer)


def _thawed(_recorder: Recorder, call: Call) -> tuple[str, Any] | None:
    """Return the first frozen norm in eval mode, if the layer is set to train mode as a whole."""
    layer, *modes = call.args
    is_set = layer.training and (not modes or modes[0])
    norms = [one for one in layer.sublayers() if hasattr(one, "_variance")] if is_set else []
    for one in norms:
        weight = _parameter(one)
        if not one.training and weight is not None and weight.stop_gradient:
            return type(one).__name__, weight
    return None


def _repeated(_recorder: Recorder, call: Call) -> tuple[str, Any] | None:
    """Describe a container that has the same layer with parameters several times; else ``None``."""
    layers = [layer for layer in call.args[0] if layer is not None]
    counts = Counter(map(id, layers))
    repeated = next((layer for layer in layers if counts[id(layer)] > 1), None)
    weight = None if repeated is None else _parameter(repeated)
    if weight is None:
        return None
    return f"{type(repeated).__name__} {counts[id(repeated)]}", weight


def _initialised(recorder: Recorder, call: Call) -> tuple[str, Any] | None:
    parameter = call.args[1] if len(call.args) > 1 else None
    is_known = isinstance(parameter, recorder.parameter_type)
    if not is_known or recorder.tensors.known_key(parameter) == NO_KEY:
        return None
    initializer = call.args[0]
    value = getattr(initializer, "_value", "")
    return f"{type(initializer).__name__} {value}", parameter


def _taken(recorder: Recorder, call: Call) -> tuple[str, Any]:
    states = recorder.events.states
    number = len(states)
    first = next(iter(call.result.values()), None)
    states[number] = weakref.ref(call.result), _memory(first)
    return str(number), _parameter(call.args[0])


def _memory(tensor: Any) -> int:
    """Return a tensor's address, because ``detach()`` returns another tensor of the same memory."""
    address: int = tensor.data_ptr() if hasattr(tensor, "data_ptr") else id(tensor)
    return address


def _loaded(recorder: Recorder, call: Call) -> tuple[str, Any] | None:
    """Tell which ``state_dict()`` returned the state that is loaded or saved, or its tensors.

    Also tell whether all loaded tensors already have the memory of the layer's tensors.
    """
    layer, state = call.args[0], call.args[-1]
    is_loaded = isinstance(layer, _paddle().nn.Layer)
    if not is_loaded:
        state = layer  # ``paddle.save(state, path)``
    values = list(state.values()) if isinstance(state, dict) else []
    first = values[0] if values else None
    own = set(map(_memory, (*layer.parameters(), *layer.buffers()))) if is_loaded else set()
    if is_loaded and _memory(first) not in own:
        return None  # another net is set to the values of this one
    known = recorder.events.states.items()
    same = [number for number, (one, _) in known if one() is state]
    if is_loaded and not same:
        same = [number for number, (_, memory) in known if memory == _memory(first)]
    is_own = is_loaded and all(_memory(one) in own for one in values)
    return (f"{same[-1]} {int(is_own)}", None) if same else None
