"""The code ran once more, and something differed: two checks.

``nondeterminism``: the same code gave something else when it ran again from the same state and
seed. It runs once more with parameters, buffers, optimizer, variables and random generators as they
were, and every op's outputs are compared by a digest of their bytes. The first op that differs
while nothing that it read did is where it began: data that depends on time or on a generator of its
own, memory that nobody wrote, a kernel whose threads add in another order. What Paddle's, NumPy's
and Python's generators give is no alarm, seeded or not: they are put back.

``unwritten-output``: an op returned memory that was never written. The code runs with every new
block of memory filled with one byte, and again with another. What differs between the two, and not
between two runs with the same byte, was never written: a kernel of one's own that skips a part of
its output, a ``paddle.empty`` that is filled only in part. A part that is unwritten and never read
is no alarm, nor is a tensor that is written before it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import GRADIENT, Facts
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.place import Place
from paddle_lab.words import Text

_MAKES_NOTHING = frozenset(("empty", "empty_like", "new_empty", "empty_strided"))
"""Ops whose outputs are anything until somebody writes them."""
_MOST_MARKS = 200

Reason = Literal["op", "unwritten", "data", "gradient", "path"]
"""Where a difference began: in what an op computed, in memory that nobody wrote, in data that no op
made, in a gradient, or in which ops were called from there on."""


def find_nondeterminism(facts: Facts) -> Iterator[Found]:
    """Yield each op from which a difference spread."""
    differences = _Differences(facts, "nondeterminism")
    for origin in differences.origins():
        place, key = origin.place, f"findings.nondeterminism.{origin.reason}"
        values: dict[str, object] = {}
        if origin.reason in ("op", "data"):
            values["count"] = differences.op_count
        if origin.reason == "op":
            values["name"] = facts.op_name(origin.op)
        elif origin.reason == "unwritten":
            values["reader"] = facts.place(origin.reader)
        yield differences.found(origin, Text(key, place=place, **values))


def find_unwritten_output(facts: Facts) -> Iterator[Found]:
    """Yield each op that made something of unwritten memory."""
    differences = _Differences(facts, "unwritten-output")
    for origin in differences.origins():
        place = origin.place
        if origin.reason == "unwritten":
            reader = facts.place(origin.reader)
            message = Text("findings.unwritten-output.unwritten", place=place, reader=reader)
        elif origin.reason == "op":
            name = facts.op_name(origin.op)
            message = Text("findings.unwritten-output.op", place=place, name=name)
        else:
            message = Text("findings.unwritten-output.elsewhere", place=place)
        yield differences.found(origin, message)


@dataclass(frozen=True)
class _Origin:
    """An op from which a difference spread."""

    op: int
    place: Place
    reason: Reason
    reader: int = -1
    """The first op that read what differs into something new, -1 for none."""


class _Differences:
    """What differed between two runs, by one check's rows."""

    def __init__(self, facts: Facts, check: str) -> None:
        self._facts = facts
        table, text = facts.record.rerun_differences, facts.record.text
        self._outputs: dict[int, set[int]] = {}
        self._external: dict[int, list[int]] = {}
        self._paths: list[int] = []
        columns = (table[name].tolist() for name in ("op", "slot", "check", "detail"))
        for op, slot, row_check, detail in zip(*columns, strict=True):
            if text(row_check) != check or op < 0:
                continue
            what = text(detail)
            if what == "output":
                self._outputs.setdefault(op, set()).add(slot)
            elif what == "external":
                self._external.setdefault(op, []).append(slot)
            else:
                self._paths.append(op)
        self._tensors = {one for op in self._outputs for one in self._differing(op)}

    @property
    def op_count(self) -> int:
        """How many ops made something else."""
        return len(self._outputs)

    def found(self, origin: _Origin, message: Text) -> Found:
        """Return a finding that marks where a difference began and the ops it reached after."""
        later = [op for op in sorted(self._outputs) if op > origin.op][:_MOST_MARKS]
        marks = [Mark("origin", op=origin.op), *(Mark("path", op=op) for op in later)]
        return Found(origin.place, message, "warning", origin.op, marks=marks)

    def origins(self) -> Iterator[_Origin]:
        """Yield where differences began, in order."""
        facts = self._facts
        first = min(self._outputs, default=facts.op_count)
        for op in sorted({*self._outputs, *self._external}):
            external = self._external_of(op)
            if external >= 0:
                is_gradient = facts.tensor_kind(external) == GRADIENT
                # After a forward that differed a gradient does; that is no news.
                if not is_gradient or op <= first:
                    place = self._made_at(external) or facts.place(op)
                    yield _Origin(op, place, "gradient" if is_gradient else "data")
            elif op in self._outputs and self._tensors.isdisjoint(facts.inputs(op)):
                reader = self._reader(op)
                is_unwritten = facts.op_name(op) in _MAKES_NOTHING
                if reader >= 0 or (not is_unwritten and 0 in self._outputs[op]):
                    reason: Reason = "unwritten" if is_unwritten else "op"
                    yield _Origin(op, facts.place(op), reason, reader)
        for op in self._paths:
            yield _Origin(op, facts.place(op), "path")

    def _external_of(self, op: int) -> int:
        slots, inputs = self._external.get(op, ()), self._facts.inputs(op)
        return next((inputs[slot] for slot in slots if slot < len(inputs)), -1)

    def _reader(self, op: int) -> int:
        """Return the first op that read what differs into something new.

        To write into it, wholly or in part, is no reading.
        """
        facts, waiting = self._facts, self._differing(op)
        for tensor in waiting:
            for consumer in facts.consumers(tensor):
                for made in self._differing(consumer):
                    if facts.previous(made) != tensor:
                        return consumer
                    waiting.append(made)
        return -1

    def _differing(self, op: int) -> list[int]:
        """Return the outputs of an op that differ."""
        slots = self._outputs.get(op, ())
        return [tensor for slot, tensor in enumerate(self._facts.outputs(op)) if slot in slots]

    def _made_at(self, tensor: int) -> Place | None:
        for event in self._facts.events("created"):
            if event.tensor == tensor:
                place = self._facts.place_of_stack(event.stack)
                return place if place.line else None
        return None


NONDETERMINISM = Check(
    kind="nondeterminism",
    find=find_nondeterminism,
    example="noise = paddle.to_tensor(np.random.default_rng().normal(size=[4]))  # its own seed",
    needs=("rerun",),
    consequence_of=("unwritten-output",),
    holds_on=(),  # two runs are compared op by op
)
UNWRITTEN_OUTPUT = Check(
    kind="unwritten-output",
    find=find_unwritten_output,
    example="total = paddle.empty([4])\ntotal[:3] = parts\nloss = total.sum()",
    needs=("rerun",),
    holds_on=(),  # two runs are compared op by op
)
