"""Facts for checks of training: calls, optimizer steps, values of data, origins of values."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from paddle_lab.analysis.findings.facts import (
    EXTERNAL,
    FORWARD,
    GRADIENT,
    OPTIMIZER,
    PARAMETER,
    Event,
    Facts,
    walk,
)
from paddle_lab.analysis.findings.finding import Place
from paddle_lab.analysis.findings.gradients.trained import Trained
from paddle_lab.analysis.source.stacks import stack_of
from paddle_lab.trace.floats import from_bits
from paddle_lab.trace.schema import RECORD_TABLES, SCOPE_KINDS

LOSSES = frozenset(
    ("cross_entropy_with_softmax", "nll_loss", "bce_loss", "sigmoid_cross_entropy_with_logits",
     "kldiv_loss", "huber_loss", "log_loss", "hinge_loss")
)  # fmt: skip
AFFINE = frozenset(("linear", "matmul", "conv2d", "conv1d", "conv3d", "fused_gemm_epilogue"))
PASSING = frozenset(
    ("reshape", "cast", "squeeze", "unsqueeze", "getitem", "transpose", "flatten", "assign",
     "expand", "tile", "contiguous", "slice", "concat", "stack", "dropout", "flatten_", "reshape_",
     "squeeze_", "unsqueeze_", "expand_as", "split", "unbind", "gather")
)  # fmt: skip
_FARTHEST = 12
_LAYER = SCOPE_KINDS.index("layer")


@lru_cache(maxsize=4096)
def _attribute(attributes: str, name: str) -> str:
    found = re.search(rf"(?:^|, ){name}=(\[.*?\]|'.*?'|[^,]*)", attributes)
    return found[1] if found else ""


class Called(NamedTuple):
    """A recorded call of a function that traces record as an event, such as ``Layer.eval``."""

    event: Event
    name: str
    detail: list[str]


class Step(NamedTuple):
    """A step of an optimizer."""

    row: int
    scope: int
    number: int
    rate: float
    schedule: str
    clip: str
    first_op: int
    """-1 if the step ran no op, or if the trace dropped the step's ops."""
    last_op: int


class Glance(NamedTuple):
    """Statistics of the values of a tensor that no op made."""

    elements: int
    zeros: int
    smallest: float
    largest: float
    mean: float
    root_mean_square: float
    is_whole: bool
    digest: int


class Training:
    """Facts about the training in a record."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    # -- calls and steps ----------------------------------------------------------------------

    @cached_property
    def calls(self) -> dict[str, list[Called]]:
        """The recorded calls of each function, by its name, in order."""
        found: dict[str, list[Called]] = {}
        for event in self.facts.events("called"):
            name, *detail = event.detail.split(" ")
            found.setdefault(name, []).append(Called(event, name, detail))
        return found

    def called(self, *names: str) -> list[Called]:
        """Return the recorded calls of some functions, in order."""
        rows = [call for name in names for call in self.calls.get(name, ())]
        return sorted(rows, key=lambda call: call.event.row)

    @cached_property
    def schedule_steps(self) -> dict[str, list[Called]]:
        """The calls of ``step`` of each scheduler, by the scheduler's class and number."""
        found: dict[str, list[Called]] = {}
        for call in self.called(*(name for name in self.calls if name.endswith(".step"))):
            found.setdefault(" ".join(call.detail), []).append(call)
        return found

    def place(self, call: Called) -> Place:
        """Return the innermost line of the user's code that made a call."""
        return self.facts.place_of_stack(call.event.stack)

    @cached_property
    def steps(self) -> list[Step]:
        """The steps of optimizers, in order."""
        table, text = self.facts.record.tables["optimizer_steps"], self.facts.record.text
        ops = {int(self._step_scopes[row[0]]): row for row in self.facts.step_ops}
        rates = from_bits(table["learning_rate"]).tolist()
        found = []
        for row, scope in enumerate(table["scope"].tolist()):
            own = ops.get(scope, [])
            found.append(
                Step(
                    row, scope, int(table["number"][row]), rates[row],
                    text(int(table["schedule"][row])), text(int(table["clip"][row])),
                    own[0] if own else -1, own[-1] if own else -1,
                )
            )  # fmt: skip
        return found

    @cached_property
    def _step_scopes(self) -> list[int]:
        scopes = self.facts._outermost("optimizer")  # noqa: SLF001
        found: list[int] = scopes[self.facts.record.ops["scope"]].tolist()
        return found

    @cached_property
    def steps_of(self) -> dict[int, list[Step]]:
        """The steps of each optimizer, by its number."""
        found: dict[int, list[Step]] = {}
        for step in self.steps:
            found.setdefault(step.number, []).append(step)
        return found

    @cached_property
    def calls_before_steps(self) -> list[list[int]]:
        """The backward calls before each step and after the step before it."""
        ends = sorted(step.scope for step in self.steps)
        found: list[list[int]] = [[] for _ in ends]
        for call in self.facts.user_backward_calls:
            at = bisect_left(ends, self.backward_scopes.get(call, -1))
            if at < len(ends) and not self.facts.is_paddle_grad(call):
                found[at].append(call)
        return found

    def step_place(self, step: Step) -> Place:
        """Return the line of the user's code that called a step."""
        return self.facts.place(step.first_op) if step.first_op >= 0 else Place()

    def made_at(self, number: int) -> Place:
        """Return the line that made an optimizer; if it is unknown, the line of its first step."""
        for call in self.called("Optimizer.__init__"):
            if call.detail == [str(number)]:
                return self.place(call)
        places = map(self.step_place, self.steps_of.get(number, []))
        return next((place for place in places if place.line), Place())

    @cached_property
    def looked(self) -> dict[int, list[tuple[int, int, bool, bool, int, int]]]:
        """For each examined optimizer step, by its row: the examined parameters.

        Each entry has the tensor, the state of the gradient, whether the value changed, whether the
        units are equal, and the checksums before and after the step.
        """
        table = self.facts.record.tables["parameter_steps"]
        found: dict[int, list[tuple[int, int, bool, bool, int, int]]] = {}
        columns = (table[name].tolist() for name in RECORD_TABLES["parameter_steps"])
        for step, tensor, *rest in zip(*columns, strict=True):
            found.setdefault(step, []).append((self.facts.first_value(tensor), *rest))
        return found

    def examined(self, number: int) -> set[int]:
        """Return the examined parameters of an optimizer."""
        return {row[0] for step in self.steps_of[number] for row in self.looked.get(step.row, ())}

    @cached_property
    def backward_scopes(self) -> dict[int, int]:
        """For each backward call, by its number: the first scope inside it."""
        scopes = self.facts.record.scopes
        rows = np.flatnonzero(scopes["backward_call"] >= 0).tolist()
        return {int(scopes["backward_call"][row]): row for row in reversed(rows)}

    @cached_property
    def losses(self) -> dict[int, float]:
        """For each backward call: the value of the loss on which it was called."""
        table = self.facts.record.tables["losses"]
        calls, values = table["backward_call"].tolist(), from_bits(table["value"]).tolist()
        return dict(zip(calls, values, strict=True))

    # -- scopes -------------------------------------------------------------------------------

    def layers_around(self, op: int) -> list[int]:
        """Return the scopes of the layer calls around an op, the innermost first."""
        scopes = self.facts.record.scopes
        around = self.facts.scopes_around(int(self.facts.record.ops["scope"][op]))
        return [scope for scope in around if scopes["kind"][scope] == _LAYER]

    def classes_around(self, op: int) -> list[str]:
        """Return the classes of the layer calls around an op, the innermost first; none for -1."""
        record, scopes = self.facts.record, self.layers_around(op) if op >= 0 else []
        layers = record.scopes["layer"][scopes].tolist()
        return [record.text(int(record.layers["class"][layer])) for layer in layers]

    @cached_property
    def evaluating(self) -> frozenset[int]:
        """The scopes in which layers were called in eval mode."""
        return frozenset(self.facts.record.eval_scopes["scope"].tolist())

    def turns_around(self, scope: int) -> list[tuple[int, int]]:
        """Return the loop iterations around a scope, the innermost first.

        Each iteration is a pair of the loop and the iteration's number.
        """
        return [self._turns[at] for at in self.facts.scopes_around(scope) if at in self._turns]

    @cached_property
    def _turns(self) -> dict[int, tuple[int, int]]:
        table = self.facts.record.turns
        columns = (table[name].tolist() for name in ("scope", "loop", "number"))
        return {scope: (loop, number) for scope, loop, number in zip(*columns, strict=True)}

    # -- data and origins ---------------------------------------------------------------------

    @cached_property
    def glances(self) -> dict[int, Glance]:
        """For each tensor that no op made: statistics of its values."""
        table = self.facts.record.tables["glances"]
        floats = {"smallest", "largest", "mean", "root_mean_square"}
        columns = [
            (from_bits(table[name]) if name in floats else table[name]).tolist()
            for name in Glance._fields
        ]
        rows = zip(table["tensor"].tolist(), *columns, strict=True)
        return {tensor: Glance._make(rest) for tensor, *rest in rows}

    def glance(self, tensor: int) -> Glance | None:
        """Return statistics of a tensor that no op made, or None if there are none."""
        return self.glances.get(self.facts.first_value(tensor))

    def computed(self, tensor: int) -> Glance | None:
        """Return the values of a tensor computed from data, if the trace has noted values."""
        table = self.facts.record.value_stats
        rows = np.flatnonzero(table["tensor"] == tensor)[-1:]
        if not len(rows) or self.is_fed(tensor):
            return None
        names = ("smallest", "largest", "mean", "norm")
        low, high, mean, norm = (float(from_bits(table[name][rows])[0]) for name in names)
        elements, zeros = int(table["elements"][rows[0]]), int(table["zeros"][rows[0]])
        return Glance(elements, zeros, low, high, mean, norm / elements**0.5, False, 0)  # noqa: FBT003

    def attribute(self, op: int, name: str) -> str:
        """Return the text of a non-tensor argument of an op, ``""`` if there is none."""
        return _attribute(self.facts.attributes(op), name)

    def origin(self, tensor: int) -> int:
        """Return the tensor that a tensor's values come from, past ops that only move values."""
        for _ in range(_FARTHEST):
            op = self.facts.producer(tensor)
            if op < 0 or self.facts.op_name(op) not in PASSING or not self.facts.inputs(op):
                source = self.facts.detached_from(tensor) if op < 0 else -1
                if source < 0:
                    return tensor
                tensor = source
            else:
                tensor = self.facts.inputs(op)[0]
        return tensor

    def origin_op(self, tensor: int) -> int:
        """Return the op that computed a tensor's values, -1 for data."""
        return self.facts.producer(self.origin(tensor))

    def is_fed(self, tensor: int) -> bool:
        """Tell whether a tensor is a parameter, or was computed from parameters."""
        op = self.facts.producer(tensor)
        return self.facts.tensor_kind(tensor) == PARAMETER or op in self.facts.fed_ops

    @cached_property
    def _read(self) -> frozenset[int]:
        return frozenset(event.tensor for event in self.facts.events("read"))

    @cached_property
    def parameter_shapes(self) -> set[tuple[int, ...]]:
        """The shapes of the parameters in optimizer steps."""
        return {self.facts.shape(row[0]) for rows in self.looked.values() for row in rows}

    @cached_property
    def reads_gradients(self) -> bool:
        """Whether an op outside of optimizer steps used a gradient.

        A gradient that no step used counts as data, so data with a parameter's shape counts too,
        unless it is whole numbers, or an op read it whose result went through backward.
        """
        facts, uses = self.facts, self.facts.record.uses
        kinds = {EXTERNAL: self.parameter_shapes, GRADIENT: None}
        is_used = facts.ops_of_nodes(facts.nodes_of_calls(facts.user_backward_calls))
        pairs = zip(uses["op"].tolist(), uses["tensor"].tolist(), strict=True)
        return any(
            facts.phase(op) != OPTIMIZER
            and (wanted is None or (
                not is_used[op] and facts.shape(tensor) in wanted
                and facts.dtype(tensor).startswith(("float", "bfloat"))
            ))
            for op, tensor in pairs if op >= 0 and tensor >= 0
            and (wanted := kinds.get(facts.tensor_kind(tensor), set())) != set()
        )  # fmt: skip

    def is_unused(self, tensor: int) -> bool:
        """Tell whether nothing read a tensor, and it was freed before the trace ended."""
        facts = self.facts
        is_kept = facts.copies(tensor) or tensor in self._read or tensor in facts.living
        return not is_kept and not facts.consumers(tensor) and facts.previous(tensor) < 0

    def readers(self, tensor: int) -> Iterator[int]:
        """Yield the ops that read a tensor, or that read it after ops that only move values."""
        ops = self.later_ops(tensor, lambda op: self.facts.op_name(op) in PASSING, 256)
        return (op for op in ops if self.facts.op_name(op) not in PASSING)

    def later_ops(self, tensor: int, leads_on: Callable[[int], bool], most: int) -> Iterator[int]:
        """Yield the ops that read a tensor, and those after ops that lead on."""
        facts = self.facts

        def onward(op: int) -> list[int]:
            outputs = facts.outputs(op) if leads_on(op) else ()
            return [one for out in outputs for one in facts.consumers(out) if one >= 0]

        starts = [op for op in facts.consumers(tensor) if op >= 0]
        return islice(walk(starts, onward), most)

    def readings(self, parameter: int) -> list[int]:
        """Return the forward ops that read a value of a parameter; none for -1."""
        if parameter < 0:
            return []
        first = self.facts.first_value(parameter)
        values = (self.facts.first_values == first).nonzero()[0].tolist()
        ops = sorted({op for one in values for op in self.facts.consumers(one) if op >= 0})
        return [op for op in ops if self.facts.phase(op) == FORWARD]

    def takes_size(self, op: int) -> bool:
        """Tell whether an op takes the square or the absolute value of a difference."""
        maker = self.facts.producer(self.facts.inputs(op)[0]) if self.facts.inputs(op) else -1
        is_size = self.facts.op_name(op) in {"square", "abs", "pow"}
        return is_size and maker >= 0 and self.facts.op_name(maker) == "subtract"

    def compares(self, op: int) -> bool:
        """Tell whether an op is a loss, or a difference whose size is taken."""
        if self.facts.op_name(op) != "subtract":
            return self.facts.op_name(op) in LOSSES
        return any(map(self.takes_size, self.facts.consumers(self.facts.outputs(op)[0])))

    def reached_losses(self, tensor: int) -> list[int]:
        """Return the loss ops that use a tensor, directly or through a limited number of ops."""
        ops = self.later_ops(tensor, lambda op: self.facts.op_name(op) not in LOSSES, 64)
        return [op for op in ops if self.facts.op_name(op) in LOSSES]

    def forward_ops(self, *names: str) -> list[int]:
        """Return the ops of the forward phase that have one of some names, and did not raise."""
        facts = self.facts
        ops = facts.ops_named(names)
        return [op for op in ops if facts.phase(op) == FORWARD and facts.outputs(op)]

    # -- lines --------------------------------------------------------------------------------

    def user_places(self, stack: int) -> list[Place]:
        """Return the lines of the user's code in a stack, the innermost first."""
        frames = stack_of(self.facts.record, stack)
        return [Place.of(frame) for frame in frames if frame.kind == "user"]

    def creation_place(self, parameter: int) -> Place:
        """Return the line that made a parameter; an empty place if it was made before the trace."""
        return self.facts.answer(Trained).creation_place([parameter], [])

    def is_direct(self, op: int) -> bool:
        """Tell whether the user's code calls an op, or the op's layer, directly.

        A call is not direct if the user's code calls a ``Sequential`` that contains the layer.
        """
        is_called = False
        for frame in stack_of(self.facts.record, self.facts.stack(op)):
            if frame.kind == "user":
                return not is_called or frame.function.rsplit(".", 1)[-1] == "forward"
            is_called |= frame.function.rsplit(".", 1)[-1] in {"forward", "__call__"}
            if frame.function.startswith("Sequential"):
                return False
        return False
