"""Inputs and labels were shuffled by two different permutations.

Contract: row i of the inputs belongs to row i of the labels, so both need the same permutation.

The check also reports inputs that were put in order by two permutations, one after the other, if
the labels beside both are slices of the same data with different values.

For shuffles by Paddle's ops, one loss must read both sides. The check does not report the negatives
of contrastive losses, where only one side is shuffled.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from paddle_lab.analysis.findings.parts import LOSSES, Check, Facts, Found, Training, warning

_INDEXING = frozenset(("gather", "index_select", "getitem", "take"))
_DEEPEST = 4_000
_FEWEST = 8


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that shuffle labels by another permutation than the inputs."""
    training = facts.answer(Training)
    if training.steps:
        yield from _in_numpy(training)
    if len(facts.ops_named({"randperm"})) < 2:
        return
    unordered: dict[int, set[int]] = {}
    for loss in training.forward_ops(*LOSSES, "subtract"):
        pair = facts.inputs(loss)
        if len(pair) < 2 or training.is_fed(pair[0]) == training.is_fed(pair[1]):
            continue
        output, target = pair[:2] if training.is_fed(pair[0]) else pair[1::-1]
        theirs, own = _orders(training, output), _orders(training, target)
        for length, (permutation, op) in own.items():
            other = theirs.get(length)
            if other is not None and other[0] != permutation:
                places = training.user_places(facts.stack(op))
                other_place = facts.place(other[1])
                place = places[places[0] == other_place and len(places) > 1]  # a helper's caller
                yield warning("shuffled-apart.found", place, op, other=other_place)
        slice_op, data = _sliced_data(training, target)
        other = None if own or data < 0 else theirs.get(facts.shape(data)[0])
        if other is not None:
            # The same labels cannot be in the order of two different permutations.
            permutations = unordered.setdefault(data, set())
            permutations.add(other[0])
            if len(permutations) > 1:
                yield warning("shuffled-apart.found", facts.place(slice_op), slice_op,
                              other=facts.place(other[1]))  # fmt: skip


def _in_numpy(training: Training) -> Iterator[Found]:
    """Yield NumPy's shuffles of floats (inputs) and integers (labels) of the same length."""
    calls = training.called("shuffle", "permutation", "seed", "set_state")
    for one, other in pairwise(calls):
        if {one.name, other.name} <= {"shuffle", "permutation"}:
            (length, kind, array), (same_length, other_kind, second) = one.detail, other.detail
            kinds = {kind, other_kind}
            is_pair = length == same_length and array != second and int(length) >= _FEWEST
            is_pair &= one.event.ops_before == other.event.ops_before  # of one epoch
            if is_pair and "f" in kinds and kinds & {"i", "u"}:
                place = training.place(other)
                yield warning("shuffled-apart.found", place, -1, other=training.place(one))


def _orders(training: Training, tensor: int) -> dict[int, tuple[int, int]]:
    """Return, by length, the ``randperm`` that shuffled a tensor's data, and the indexing op."""
    facts = training.facts
    waiting, seen = [tensor], set[int]()
    found: dict[int, tuple[int, int]] = {}
    while waiting and len(seen) < _DEEPEST:
        op = facts.producer(waiting.pop())
        if op < 0 or op in seen:
            continue
        seen.add(op)
        inputs = facts.inputs(op)
        if facts.op_name(op) in _INDEXING and len(inputs) == 2:
            maker = training.origin_op(inputs[1])
            if maker >= 0 and facts.op_name(maker) == "randperm":
                length = facts.shape(facts.outputs(maker)[0])
                if facts.shape(inputs[0])[:1] == length:
                    found[length[0]] = maker, op
            waiting.append(inputs[0])
        else:
            waiting.extend(inputs)
    return found


def _sliced_data(training: Training, tensor: int) -> tuple[int, int]:
    """Return the op that took some rows of a tensor, and this tensor; -1 and -1 if none did."""
    facts = training.facts
    op = facts.producer(tensor)
    while op >= 0 and facts.op_name(op) != "getitem" and facts.inputs(op):
        op = facts.producer(facts.inputs(op)[0])
    if op < 0 or len(facts.inputs(op)) != 1:
        return -1, -1
    data = facts.first_value(facts.inputs(op)[0])
    seen, maker = training.glance(data), facts.producer(data)
    is_constant = facts.op_name(maker) == "full" if maker >= 0 else False
    if is_constant or (seen is not None and seen.smallest == seen.largest):
        return -1, -1  # all labels are equal: their order does not matter
    return (op, data) if facts.shape(data) else (-1, -1)


CHECK = Check(find, example="x, y = x[paddle.randperm(n)], y[paddle.randperm(n)]")
