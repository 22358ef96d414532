"""The code ran a second time, and something differed: two checks.

``nondeterminism``: the code computed something else from the same state and seed. It runs a second
time with the same parameters, buffers, optimizer, variables and random generators, and a digest of
the bytes of every op's output is compared. The origin is the first op that differs although its
inputs do not: its data depends on time or on a random generator of its own, it read memory that was
never written, or its kernel's threads add in another order. Numbers from the generators of Paddle,
NumPy and Python are no alarm, because the state of these generators is restored.

``unwritten-output``: an op returned memory that was never written. The code runs with all new
memory filled with one byte value, and again with another value. Bytes that differ now, but not
between two runs with the same value, were never written: a custom kernel skipped a part of its
output, or a ``paddle.empty`` was filled only in part. No alarm: a part that is never read, or that
is written before it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from paddle_lab.analysis.findings.parts import GRADIENT, Check, Facts, Found, Mark, Place
from paddle_lab.words import Text

_MAKES_NOTHING = frozenset(("empty", "empty_like", "new_empty", "empty_strided"))
"""Ops whose outputs have undefined values until something writes into them."""
_MOST_MARKS = 200


class _Origin(NamedTuple):
    """An op from which a difference spread."""

    op: int
    place: Place
    reason: str
    """The kind of origin: ``"op"``, an op's computation; ``"unwritten"`` memory; ``"data"`` that no
    op made; a ``"gradient"``; or ``"path"``, if the runs called different ops from here on."""
    reader: int = -1
    """The first op that computed something new from the difference, -1 for none."""


def find_nondeterminism(facts: Facts) -> Iterator[Found]:
    """Yield each op from which a difference spread."""
    differences = _Differences(facts, "nondeterminism")
    for origin in differences.origins():
        yield differences.found(origin, origin.reason)


def find_unwritten_output(facts: Facts) -> Iterator[Found]:
    """Yield each op that computed with unwritten memory."""
    differences = _Differences(facts, "unwritten-output")
    for origin in differences.origins():
        is_here = origin.reason in ("op", "unwritten")
        yield differences.found(origin, origin.reason if is_here else "elsewhere")


class _Differences:
    """The differences between two runs, as recorded for one check."""

    def __init__(self, facts: Facts, check: str) -> None:
        self._facts, self._check = facts, check
        self._outputs: dict[int, set[int]] = {}
        self._external: dict[int, list[int]] = {}
        self._paths: list[int] = []
        table, text = facts.record.rerun_differences, facts.record.text
        columns = (table[name].tolist() for name in ("op", "slot", "check", "detail"))
        for op, slot, of_check, detail in zip(*columns, strict=True):
            if text(of_check) != check or op < 0:
                continue
            if text(detail) == "output":
                self._outputs.setdefault(op, set()).add(slot)
            elif text(detail) == "external":
                self._external.setdefault(op, []).append(slot)
            else:
                self._paths.append(op)
        self._tensors = {one for op in self._outputs for one in self._differing(op)}

    def found(self, origin: _Origin, key: str) -> Found:
        """Return a finding that marks where a difference began and the later ops that differ."""
        facts, op = self._facts, origin.op
        message = Text(
            f"findings.{self._check}.{key}",
            place=origin.place,
            name=facts.op_name(op),
            count=len(self._outputs),
            reader=facts.place(origin.reader if origin.reader >= 0 else op),
        )
        later = [one for one in sorted(self._outputs) if one > op][:_MOST_MARKS]
        marks = [Mark("origin", op=op), *(Mark("path", op=one) for one in later)]
        return Found(origin.place, message, "warning", op, marks=marks)

    def origins(self) -> Iterator[_Origin]:
        """Yield where differences began, in order."""
        facts = self._facts
        first = min(self._outputs, default=facts.op_count)
        for op in sorted({*self._outputs, *self._external}):
            inputs = facts.inputs(op)
            external = [inputs[slot] for slot in self._external.get(op, ()) if slot < len(inputs)]
            if external:
                is_gradient = facts.tensor_kind(external[0]) == GRADIENT
                # If the forward differs, the gradients of the forward differ, too.
                if not is_gradient or op <= first:
                    place = self._made_at(external[0]) or facts.place(op)
                    yield _Origin(op, place, "gradient" if is_gradient else "data")
            elif op in self._outputs and self._tensors.isdisjoint(inputs):
                reader = self._reader(op)
                is_unwritten = facts.op_name(op) in _MAKES_NOTHING
                if reader >= 0 or (not is_unwritten and 0 in self._outputs[op]):
                    reason = "unwritten" if is_unwritten else "op"
                    yield _Origin(op, facts.place(op), reason, reader)
        for op in self._paths:
            yield _Origin(op, facts.place(op), "path")

    def _reader(self, op: int) -> int:
        """Return the first op that computed something new from an op's differing outputs.

        An op that only writes into such an output does not count as a reader.
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
        """Return the outputs of an op that differ between the runs."""
        slots = self._outputs.get(op, ())
        return [tensor for slot, tensor in enumerate(self._facts.outputs(op)) if slot in slots]

    def _made_at(self, tensor: int) -> Place | None:
        made = (event for event in self._facts.events("created") if event.tensor == tensor)
        place = next((self._facts.place_of_stack(event.stack) for event in made), Place())
        return place if place.line else None


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
