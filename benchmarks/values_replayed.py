"""Whether values and gradients that are computed again are those of the run, bit for bit.

``python benchmarks/values_replayed.py [--ops 200] [--nodes 50] [MODEL ...]`` prints a Markdown
table. Each model makes two training steps under a trace. Then it is built again and makes the same
steps without Paddle Lab: Paddle's functions are wrapped, and the outputs of ops at random and the
gradients of tensors at random are copied. A model is a name in ``tests/models/`` or the path of a
program in ``tests/bugs/healthy/``.
"""

# ruff: noqa: SLF001  (the oracle wraps Paddle's private functions)

from __future__ import annotations

import argparse
import contextlib
import runpy
import sys
import threading
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import paddle

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.origins import OPERATORS, Array, array_of

HEALTHY = Path(__file__).resolve().parents[1] / "tests/bugs/healthy"
METHODS = {
    "clone": "clone", "to_sparse_csr": "sparse_to_sparse_csr", "_getitem_dygraph": "getitem",
    "_setitem_dygraph": "setitem",
    **{f"__{short}__": op for short, op in OPERATORS.items()},
    "__div__": "divide", "__rdiv__": "divide", "__rpow__": "pow", "__rmatmul__": "matmul",
    "__rfloordiv__": "floor_divide", "__rmod__": "remainder",
}  # fmt: skip

Work = Callable[[], None]


class Slot(NamedTuple):
    """A tensor of the run: the op's number, whether it is an input, and its position."""

    op: int
    is_input: bool
    at: int


class Oracle:
    """Copies outputs and gradients while plain Paddle runs.

    Parameters
    ----------
    ops
        The numbers of the ops whose outputs are copied.
    slots
        The tensors whose gradients are copied.
    """

    def __init__(self, ops: set[int], slots: set[Slot]) -> None:
        self._ops, self._slots = ops, slots
        self._local = threading.local()
        self.names: list[str] = []
        self.outputs: dict[int, list[Array | None]] = {}
        self.gradients: dict[tuple[Slot, int], Array | None] = {}
        self._backward_calls = 0
        self._running: list[int] = []

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Wrap Paddle's functions."""
        core = paddle.base.core.eager
        wrappers = {
            id(function): self._around_op(name, function)
            for module in (paddle._C_ops, paddle._legacy_C_ops)
            for name, function in vars(module).items()
            if type(function) is type(len)
        }
        wrappers[id(core.run_backward)] = self._around_backward(core.run_backward)
        grad = self._around_op(
            "paddle.grad", self._around_backward(core.run_partial_grad), hides=False
        )
        wrappers[id(core.run_partial_grad)] = grad
        places = [
            (module, name, value, wrappers[id(value)])
            for module in list(sys.modules.values())
            for name, value in list(getattr(module, "__dict__", {}).items())
            if id(value) in wrappers
        ]
        for name, op in METHODS.items():
            if (method := getattr(paddle.Tensor, name, None)) is not None:
                places.append((paddle.Tensor, name, method, self._around_op(op, method)))
        apply = classmethod(self._around_pylayer(vars(core.PyLayer)["apply"]))
        layer = paddle.autograd.PyLayer
        for owner, name, _, replacement in places:
            setattr(owner, name, replacement)
        layer.apply = apply
        try:
            yield
        finally:
            del layer.apply
            for owner, name, original, _ in places:
                setattr(owner, name, original)

    def _around_op(
        self, name: str, function: Callable[..., Any], *, hides: bool = True
    ) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if getattr(self._local, "is_inside", False):
                return function(*args, **kwargs)
            self._local.is_inside = hides
            read = [*leaves((args, [*kwargs.values()]))]
            try:
                result = function(*args, **kwargs)
            except Exception as error:
                if name != "getitem" or not isinstance(error, IndexError):  # the end of a loop
                    self.names.append(name)
                raise
            finally:
                self._local.is_inside = False
            self._note(name, read, result)
            return result

        call.__name__ = name
        return call

    def _around_pylayer(self, function: Any) -> Callable[..., Any]:
        def apply(pylayer: type, *args: Any, **kwargs: Any) -> Any:
            read = [*leaves((args, [*kwargs.values()]))]
            result = function.__get__(None, pylayer)(*args, **kwargs)
            self._note(pylayer.__name__, read, result)
            return result

        return apply

    def _around_backward(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self._running.append(self._backward_calls)
            self._backward_calls += 1
            try:
                return function(*args, **kwargs)
            finally:
                self._running.pop()

        return call

    def _note(self, name: str, read: list[Any], result: Any) -> None:
        op = len(self.names)
        self.names.append(name)
        self._local.is_inside = True
        try:
            for is_input, tensors in ((True, read), (False, [*leaves(result)])):
                for at, tensor in enumerate(tensors):
                    if Slot(op, is_input, at) in self._slots and not tensor.stop_gradient:
                        tensor._register_grad_hook(self._keeper(Slot(op, is_input, at)))
            if op in self._ops:
                self.outputs[op] = [copy_of(tensor) for tensor in leaves(result)]
        finally:
            self._local.is_inside = False

    def _keeper(self, slot: Slot) -> Callable[[Any], None]:
        def keep(gradient: Any) -> None:
            self._local.is_inside = True
            if gradient is not None and self._running:
                self.gradients[slot, self._running[-1]] = copy_of(gradient)
            self._local.is_inside = False

        return keep


def leaves(value: Any) -> Iterator[Any]:
    """Yield the tensors among arguments or results."""
    if isinstance(value, paddle.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from leaves(one)


def copy_of(tensor: Any) -> Array | None:
    """Return a copy of a tensor; ``None`` if it is sparse or has no memory."""
    if not tensor._is_initialized() or not tensor.is_dense():
        return None
    if tensor.dtype == paddle.bfloat16:  # NumPy has the bits as uint16
        bits = array_of(tensor).view(np.uint16).astype(np.uint32)
        return (bits << 16).view(np.float32)
    return array_of(tensor)


class Tally:
    """How many values were asked for, were equal, and were refused."""

    def __init__(self) -> None:
        self.asked = self.equal = self.silent = 0
        self.refused: Counter[str] = Counter()
        self.wrong: list[str] = []

    def ask(self, what: str, name: str, answer: Callable[[], Array], kept: Array) -> None:
        """Ask for a value, and compare it with the copy."""
        import paddle_lab

        self.asked += 1
        try:
            value = answer()
        except paddle_lab.ReplayError as reason:
            self.refused[f"{name}: {reason}"] += 1
            return
        same = (value.dtype, value.shape) == (kept.dtype, kept.shape)
        if same and value.tobytes() == kept.tobytes():
            self.equal += 1
        else:
            self.wrong.append(f"{what} {name}")

    def cells(self) -> str:
        """Return the cells of the table."""
        return f"{self.asked} | {self.equal} | {len(self.wrong)} | {self.refused.total()}"

    def add(self, other: Tally) -> None:
        """Add another tally."""
        self.asked, self.equal = self.asked + other.asked, self.equal + other.equal
        self.wrong += other.wrong
        self.refused.update(other.refused)


def built(name: str) -> Work:
    """Return two training steps of a model, or a program."""
    if name.endswith(".py"):
        return lambda: (seed(), runpy.run_path(str(HEALTHY / name)), None)[-1]  # type: ignore[func-returns-value]
    from tests import models

    seed()
    for family in vars(models).values():
        if hasattr(family, "training_step") and family is not models.step:
            family.training_step = with_adamw
    make = models.MODELS.get(name) or models.STATIC_MODELS[name]
    step = make()

    def steps() -> None:
        for _ in range(2):
            step()

    return steps


def with_adamw(layer: Any, forward: Any, *, optimizer: Any = None) -> Any:
    """Return a training step that ends with an optimizer's step: AdamW's, if it has none."""
    from tests.models.step import training_step

    optimizer = optimizer or paddle.optimizer.AdamW(parameters=layer.parameters())
    return training_step(layer, forward, optimizer=optimizer)


def seed() -> None:
    """Make everything random repeat itself."""
    import random

    paddle.seed(0)
    np.random.seed(0)
    random.seed(0)


def compared(name: str, most_ops: int, most_nodes: int) -> tuple[int, Tally, Tally]:
    """Compare a model's values with those of a second run. Return also how many ops it has."""
    import paddle_lab

    draw = np.random.default_rng(zlib.crc32(name.encode()))
    work = built(name)
    with paddle_lab.trace(replay=True, replay_limit=8_000, check="none", limit=None) as trace:
        work()
    rows = draw.permutation(len(trace.ops))[:most_ops].tolist()
    asked = draw.permutation(gradients_of(trace))[:most_nodes].tolist()
    nodes = [(node, call, Slot(op, bool(of_input), at)) for node, call, op, of_input, at in asked]
    oracle = Oracle({*rows}, {slot for *_, slot in nodes})
    work = built(name)
    with oracle.installed():
        work()
    names = [op.name for op in trace.ops]
    if names != oracle.names:
        at = next((i for i, pair in enumerate(zip(names, oracle.names)) if len({*pair}) > 1), -1)  # noqa: B905
        raise RuntimeError(f"other ops: {len(names)}, {len(oracle.names)}, {names[at]} at {at}")
    values, gradients = Tally(), Tally()
    for row in rows:
        for output, kept in enumerate(oracle.outputs.get(row, ())):
            if kept is not None:
                ask = lambda row=row, output=output: trace.value(row, output)  # noqa: E731
                values.ask(f"{row}.{output}", names[row], ask, kept)
    for node, call, slot in nodes:
        kept = oracle.gradients.get((slot, call))
        if kept is None:
            gradients.silent += 1
            continue
        output = 0 if slot.is_input else slot.at
        ask = lambda node=node, output=output, call=call: trace.gradient(node, output, call=call)  # noqa: E731
        gradients.ask(f"{node} in {call}", names[slot.op], ask, kept)
    return len(names), values, gradients


def gradients_of(trace: Any) -> list[tuple[int, int, int, int, int]]:
    """Return the gradients of a trace: node, backward call, op, whether an input, position."""
    record = trace.view_record
    grad_nodes, uses = record.grad_nodes, record.uses
    is_input = uses["role"] == 0
    reads: dict[int, tuple[int, int]] = {}
    seen: Counter[int] = Counter()
    for op, tensor in zip(
        uses["op"][is_input].tolist(), uses["tensor"][is_input].tolist(), strict=True
    ):
        reads.setdefault(tensor, (op, seen[op]))
        seen[op] += 1
    found = []
    members = record.backward_members
    for node, call in zip(
        members["grad_node"].tolist(), members["backward_call"].tolist(), strict=True
    ):
        op, leaf = int(grad_nodes["op"][node]), int(grad_nodes["parameter"][node])
        if op >= 0:
            found.append((node, call, op, 0, 0))
        elif leaf in reads:
            found.append((node, call, reads[leaf][0], 1, reads[leaf][1]))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("models", nargs="*")
    given = parser.parse_args()
    from tests.models import MODELS

    print(
        "| model | ops | values | equal | wrong | refused | gradients | equal | wrong | refused |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    all_values, all_gradients = Tally(), Tally()
    for name in given.models or MODELS:
        try:
            count, values, gradients = compared(name, given.ops, given.nodes)
        except Exception as fault:  # noqa: BLE001
            print(f"| {name} | {type(fault).__name__}: {fault}", flush=True)
            continue
        print(f"| {name} | {count} | {values.cells()} | {gradients.cells()} |", flush=True)
        for tally in (values, gradients):
            for wrong in tally.wrong:
                print("    wrong:", wrong)
            for reason, times in tally.refused.most_common():
                print(f"    {times} × {reason}")
        all_values.add(values)
        all_gradients.add(gradients)
    print(f"| all | | {all_values.cells()} | {all_gradients.cells()} |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
