"""Runs a training step without and with a trace, each time with one name of Paddle's deleted.

Each name is tested in a process forked from one that has imported Paddle but run nothing, because
Paddle caches what it has looked up. Reads one name per line (an empty line deletes none), and
answers each with a line of JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import paddle
import paddle.jit.sot.opcode_translator.executor.executor_cache
from paddle import nn

import paddle_lab
from paddle_lab.capture.door.table import FEATURES
from paddle_lab.capture.kernels import peaks

MOST_S = 120
DATA = np.arange(12, dtype=np.float32).reshape(4, 3) / 10


def data(*, stop_gradient: bool = True) -> paddle.Tensor:
    """Return the numbers as a tensor that an op made."""
    tensor = paddle.linspace(0.0, 1.1, 12).reshape([4, 3])
    tensor.stop_gradient = stop_gradient
    return tensor


def delete(path: str) -> None:
    """Delete what the door's table calls by a path."""
    owner, _, name = path.rpartition(".")
    found: Any = sys.modules["paddle"]
    for part in owner.removesuffix("()").split(".")[1:]:
        found = getattr(found, part)
    if owner.endswith("()"):
        _delete_of_instances(found, name)
    elif isinstance(found, type):
        for kind in found.__mro__:
            if name in vars(kind):
                delattr(kind, name)
    else:
        delattr(found, name)


def _delete_of_instances(kind: Any, name: str) -> None:
    make = kind.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        vars(self).pop(name, None)

    kind.__init__ = __init__


class Rows(paddle.io.Dataset):
    def __len__(self):
        return len(DATA)

    def __getitem__(self, index):
        return DATA[index]


class Doubled(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(_ctx, gradient):
        return gradient * 2


def training() -> Iterator[Any]:
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    optimizer = paddle.optimizer.AdamW(0.1, parameters=net.parameters())
    for _ in range(2):
        loss = net(data()).square().mean()
        loss.backward()
        yield from (parameter.grad for parameter in net.parameters())
        optimizer.step()
        optimizer.clear_grad()
        yield loss
    yield from net.parameters()


def second_gradients() -> Iterator[Any]:
    x = data(stop_gradient=False)
    (first,) = paddle.grad((x**3).sum(), [x], create_graph=True)
    yield first
    yield from paddle.grad((first.tanh() * x).sum(), [x])


def python_layers() -> Iterator[Any]:
    x = data(stop_gradient=False)
    Doubled.apply(x.clone()).sum().backward()
    yield x.grad


def lookups() -> Iterator[Any]:
    table = nn.Embedding(5, 2, sparse=True)
    rows = table(paddle.full([3], 1, "int64"))
    rows.sum().backward()
    yield rows


def indexing() -> Iterator[Any]:
    x = data()
    x[0] = 1.0
    yield x[:, 1]
    yield paddle.full([1], x[0, 0].item())


def copies() -> Iterator[Any]:
    yield paddle.to_tensor(DATA)
    x = data(stop_gradient=False)
    yield (x * 2).cpu()
    with paddle.no_grad():
        y = x.detach() + 1
    y.set_value(DATA)
    yield y.contiguous()
    yield paddle.utils.dlpack.from_dlpack(paddle.utils.dlpack.to_dlpack(y))


def batches() -> Iterator[Any]:
    yield from paddle.io.DataLoader(Rows(), batch_size=2)


def compiled() -> Iterator[Any]:
    def program(x):
        return x.tanh() + 1

    for full_graph in (True, False):
        yield paddle.jit.to_static(program, full_graph=full_graph)(data())


Part = Callable[[], Iterator[Any]]
PARTS: tuple[Part, ...] = (
    training, second_gradients, python_layers, lookups, indexing, copies, batches,
)  # fmt: skip


def outcomes(parts: tuple[Part, ...]) -> list[str]:
    """Return what each part computed, or the error of Paddle's that ended it."""
    told = []
    for part in parts:
        values: list[str] = []
        try:
            paddle.seed(7)
            values.extend(repr(np.asarray(value).tolist()) for value in part())
        except Exception as error:  # noqa: BLE001
            text = str(error).partition("\n")[0]
            values.append(f"{type(error).__name__}: {text}")
        told.append(f"{part.__name__}: {values}")
    return told


def names_of(wanted_by: str) -> list[str]:
    features = [feature for feature in FEATURES.values() if feature.wanted_by == wanted_by]
    return [path for feature in features for path in feature.names.values()]


def compare(path: str) -> dict[str, Any]:
    """Return what the parts do without a trace and in one, and what the trace says."""
    if path:
        delete(path)
    # Compiling takes longer than everything else.
    parts = (*PARTS, compiled) if not path or ".jit." in path or path.endswith(".ops") else PARTS
    plain = outcomes(parts)
    traced: list[str] = []
    fault = ""
    try:
        with paddle_lab.memory(check="all", grads=True, profile=True, log=3) as trace:
            traced = outcomes(parts)
        notices = trace.record.origin.notices
        ops = len(trace.ops)
    except BaseException as error:  # noqa: BLE001
        notices, ops, fault = [], 0, f"{type(error).__name__}: {error}"
    told = {"plain": plain, "traced": traced, "notices": notices, "ops": ops, "fault": fault}
    if path in names_of("rerun"):
        told["rerun"] = paddle_lab.rerun(lambda: data().sum()).record.origin.notices
    if path in names_of("export"):
        found = paddle_lab.check_export(paddle.nn.Linear(2, 2), [paddle.ones([1, 2])])
        told["export"] = found.unchecked
    return told


def prepare() -> None:
    """Import what a trace imports late, and let the measurement of peaks take no time."""
    for room in ("analysis", "capture", "trace", "words"):
        found = import_module(f"paddle_lab.{room}")
        for module in pkgutil.walk_packages(found.__path__, f"{found.__name__}."):
            import_module(module.name)
    peaks._BUDGET_S = peaks._LONG_S = 0.0


def main() -> None:
    prepare()
    for line in iter(sys.stdin.readline, ""):
        path = line.strip()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            signal.alarm(MOST_S)
            with contextlib.suppress(BaseException), os.fdopen(writing, "w") as out:
                warnings.simplefilter("ignore")
                json.dump(compare(path), out)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as told:
            text = told.read()
        _, status = os.waitpid(child, 0)
        told_of = json.loads(text) if text else {"fault": f"ended with status {status}"}
        sys.stdout.write(json.dumps({"path": path, **told_of}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
