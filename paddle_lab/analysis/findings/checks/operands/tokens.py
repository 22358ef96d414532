"""The tokens that a model reads, and the tokens that are the labels of its loss."""

from __future__ import annotations

import re
from typing import NamedTuple

from paddle_lab.analysis.findings.parts import PARAMETER, Facts, Training, walk

_SAME_ORDER = frozenset(("reshape", "flatten", "unsqueeze", "squeeze", "cast", "contiguous"))
_CAUSAL = frozenset(("triu", "tril", "rnn"))


class Tokens(NamedTuple):
    """What a cross entropy compares, if it has a label for each token that a model reads."""

    way: set[int]
    """The ops between the tokens and the loss."""
    read: set[int]
    """The tokens."""
    parts: set[tuple[int, str]]
    """For each of them: a tensor, and which part of it led to logits with a label."""
    labels: tuple[int, str]

    @property
    def are_next(self) -> bool:
        """Tell whether the labels are the tokens after those that were read."""
        source, part = self.labels
        return part == "[:, 1:]" and self.parts == {(source, "[:, :-1]")}


def tokens_before(facts: Facts, loss: int) -> Tokens:
    """Return the ops and the tokens before a cross entropy; no tokens if it has other labels."""
    logits, labels = (_in_order(facts, one) for one in facts.inputs(loss)[:2])
    shape = facts.shape(labels)
    if len(shape) != 2 or facts.shape(logits)[:2] != shape:
        return Tokens(set(), set(), set(), (labels, ""))
    lengths = {shape[1], shape[1] + 1}  # logits of the last or first token may be cut off

    def before(one: int) -> list[int]:
        is_made = facts.tensor_kind(one) != PARAMETER
        inputs = facts.inputs(facts.producer(one)) if is_made else ()
        return [each for each in inputs if lengths & {*facts.shape(each)}]  # not the last state

    way = {facts.producer(one) for one in walk([logits], before)} - {-1}
    read = {facts.inputs(one)[0] for one in way if facts.op_name(one) == "embedding"}
    read = {one for one in read if facts.shape(one) in {(shape[0], each) for each in lengths}}
    cuts = {
        _taken(facts, out)[1]
        for one in way
        if facts.op_name(one) == "getitem"
        for out in facts.outputs(one)
        if facts.needs_grad(out)
    } & {"[:, :-1]", "[:, 1:]"}
    parts = {
        _taken(facts, one) if facts.shape(one) == shape else (one, "".join(cuts)) for one in read
    }
    return Tokens(way, read, parts, _taken(facts, labels))


def copied_tokens(facts: Facts, loss: int) -> bool:
    """Tell whether the labels of a causal model are the tokens that it reads."""
    tokens = tokens_before(facts, loss)
    is_causal = any(
        facts.op_name(one) in _CAUSAL or "causal=True" in facts.attributes(one)
        for one in tokens.way
    )
    return is_causal and tokens.parts == {tokens.labels}


def _in_order(facts: Facts, tensor: int) -> int:
    """Return the tensor that has the same values in the same order, with its first shape."""
    while (maker := facts.producer(tensor)) >= 0 and facts.op_name(maker) in _SAME_ORDER:
        tensor = facts.inputs(maker)[0]
    return tensor


def _taken(facts: Facts, tensor: int) -> tuple[int, str]:
    """Return what identifies a tensor: itself, or a tensor and which part of it was taken."""
    maker = facts.producer(tensor)
    if maker < 0 or facts.op_name(maker) != "getitem" or len(facts.inputs(maker)) != 1:
        return tensor, ""
    source, part = facts.inputs(maker)[0], facts.attributes(maker)
    whole = ", ".join(":" * (len(facts.shape(source)) - part.count(",")))
    return source, re.sub(r"(, :)+\]", "]", part.replace("...", whole))


def has_padding(training: Training, loss: int) -> bool:
    """Tell whether a mean of losses contains those of the padding, which is token 0.

    Labels are tokens that an embedding reads, or others of its vocabulary: then each token is a
    class, and rows have more zeros than an end of the sentence needs.
    """
    facts = training.facts
    labels, classes = training.origin(facts.inputs(loss)[1]), facts.shape(facts.inputs(loss)[0])
    seen = training.glance(labels)
    readers = training.readers(facts.outputs(loss)[-1])
    is_mean = all(facts.op_name(one) in {"mean", "mean_all"} for one in readers)
    if seen is None or seen.zeros * 20 < seen.elements or not is_mean:
        return False
    if training.attribute(loss, "ignore_index") == "0":
        return False
    for one in training.forward_ops("embedding"):
        source, table = map(training.origin, facts.inputs(one)[:2])
        is_padded = training.attribute(one, "padding_idx") == "0"
        if is_padded and source == labels:
            return True
        tokens, shape = training.glance(source), facts.shape(labels)
        has_some = tokens is not None and tokens.zeros * 20 >= tokens.elements
        is_of_tokens = facts.shape(source) == shape and facts.shape(table)[:1] == classes[-1:]
        if is_padded and has_some and is_of_tokens and len(shape) == 2 and seen.zeros > shape[0]:
            return True
    return False
