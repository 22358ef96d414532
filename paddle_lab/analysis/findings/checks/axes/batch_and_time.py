"""A layer that takes inputs of shape [batch, time, …] got [time, batch, …].

Contract: Paddle's recurrent layers (without ``time_major=True``), ``MultiHeadAttention`` and
Transformer layers take the batch as the first axis. The same layers of PyTorch take the time as
the first axis by default. If the axes are exchanged, the layer works along the batch and mixes
samples.

The check reports a ``transpose`` that exchanges the first two axes of a result of the net right
before such a layer. It does not report data that had the time first from the beginning, or
attention along the rows and columns of images. It also reports ``out[-1]`` of a recurrent layer if
this leads to the loss, because it is one sample, and so is ``out[:, -1]`` with ``time_major``. It
does not report a batch of one sample, or an output with other uses: samples may be taken in turn.

A table of sines [longest, 1, features] that is cut to the batch size gives all time steps of a
sample the same position. Such a table is right if the time is first, and in axes with two tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import BUFFER, Check, Facts, Found, Training, warning
from paddle_lab.analysis.source.stacks import stack_of

_BATCH_FIRST = frozenset(
    ("LSTM", "GRU", "SimpleRNN", "MultiHeadAttention", "TransformerEncoder", "TransformerDecoder",
     "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer")
)  # fmt: skip
_BETWEEN = frozenset(("add", "dropout", "layer_norm", "scale", "multiply"))
_RECURRENT = frozenset(("LSTM", "GRU", "SimpleRNN"))
_EXCHANGE = "[1, 0, 2]"
_ONE_INDEX = re.compile(r"\[?-?\d+\]?")
_FIRST_ROWS = re.compile(r"\[0?:\d+(, :)*\]")
_OF_PADDLE = ("nn/layer/transformer.py", "nn/layer/rnn.py")
_SECOND_INDEX = re.compile(r"\[:, -?\d+(, :)?\]")


def find(facts: Facts) -> Iterator[Found]:
    """Yield the transposes right before layers that take the batch first."""
    training = facts.answer(Training)
    for op in training.forward_ops("transpose"):
        if training.attribute(op, "perm") != _EXCHANGE or not training.is_fed(facts.inputs(op)[0]):
            continue
        if not _BATCH_FIRST.isdisjoint(training.classes_around(op)[:1]):
            continue
        reader = _layer_reader(training, op)
        if reader and not _is_along_both(training, op, reader):
            yield warning("batch-and-time.found", facts.place(op), op, layer=reader)
    yield from _samples(training)
    yield from _positions(training)


def _is_along_both(training: Training, op: int, reader: str) -> bool:
    """Tell whether a layer like the reader works along the axis that the reader takes as batch."""
    maker = training.facts.producer(training.facts.inputs(op)[0])
    alike = _RECURRENT if reader in _RECURRENT else _BATCH_FIRST - _RECURRENT
    return not alike.isdisjoint(training.classes_around(maker))


def _samples(training: Training) -> Iterator[Found]:
    """Yield indexings of a recurrent layer's output that take one sample of the batch."""
    facts = training.facts
    is_used = facts.ops_of_nodes(facts.nodes_of_calls(facts.user_backward_calls))
    for op in training.forward_ops("getitem"):
        inputs, taken = facts.inputs(op), facts.attributes(op)
        shape, maker = facts.shape(inputs[0]), facts.producer(inputs[0])
        if len(inputs) != 1 or len(shape) != 3 or shape[0] == 1 or maker < 0 or not is_used[op]:
            continue
        layer = "".join(training.classes_around(maker)[:1])
        is_output = facts.op_name(maker) == "transpose" and layer in _RECURRENT
        is_second = _SECOND_INDEX.fullmatch(taken) is not None
        is_alone = {facts.attributes(one) for one in facts.consumers(inputs[0])} == {taken}
        if is_second and is_alone and facts.op_name(maker) == "rnn" and shape[1] > 1:
            yield warning("batch-and-time.time_major", facts.place(op), op, layer=layer, n=shape[1])
        elif is_output and is_alone and _ONE_INDEX.fullmatch(taken):
            yield warning("batch-and-time.sample", facts.place(op), op, layer=layer, n=shape[0])


def _positions(training: Training) -> Iterator[Found]:
    """Yield cuts of tables of positions that are added along the batch."""
    facts = training.facts
    for op in training.forward_ops("getitem"):
        table, rows = facts.inputs(op)[0], facts.outputs(op)[0]
        n, *rest = facts.shape(rows) or (0,)
        if not _FIRST_ROWS.fullmatch(facts.attributes(op)) or rest[:1] != [1]:
            continue
        makers = {facts.producer(one) for one in facts.before(table)} - {-1}
        is_table = facts.tensor_kind(table) == BUFFER or {"sin"} & set(map(facts.op_name, makers))
        if not is_table or not 1 < n < facts.shape(table)[0]:
            continue
        for add in (one for one in facts.consumers(rows) if facts.op_name(one) == "add"):
            shape = facts.shape(facts.outputs(add)[0])
            sums = {add, *facts.consumers(facts.outputs(add)[0]),
                    *map(facts.producer, facts.inputs(add))} - {-1}  # fmt: skip
            added = {facts.shape(one) for total in sums for one in facts.inputs(total)}
            layer = _layer_reader(training, add)
            if layer and shape[0] == n and added.isdisjoint({shape[1:], (1, *shape[1:])}):
                yield warning("batch-and-time.positions", facts.place(op), op, layer=layer, n=n)


def _layer_reader(training: Training, op: int) -> str:
    facts, tensors = training.facts, list(training.facts.outputs(op))
    for _ in range(4):
        ops = [one for tensor in tensors for one in facts.consumers(tensor)]
        for one in ops:
            is_rnn = facts.op_name(one) == "transpose"  # the layer itself makes time the first axis
            frames = stack_of(facts.record, facts.stack(one))
            is_paddles = any(frame.file.endswith(_OF_PADDLE) for frame in frames)
            found = _BATCH_FIRST.intersection(training.classes_around(one) if is_paddles else ())
            if found and (is_rnn or not found & _RECURRENT):
                return min(found)
        between = [one for one in ops if facts.op_name(one) in _BETWEEN]
        tensors = [tensor for one in between for tensor in facts.outputs(one)]
    return ""


CHECK = Check(find, example="y, _ = nn.LSTM(8, 16)(x.transpose([1, 0, 2]))  # of [batch, time, 8]")
