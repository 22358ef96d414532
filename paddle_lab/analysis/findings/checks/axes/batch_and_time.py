"""A layer that takes [batch, time, …] got [time, batch, …].

Contract: Paddle's recurrent layers (without ``time_major=True``), ``MultiHeadAttention`` and
Transformer layers take the batch first; PyTorch's take the time first by default. With exchanged
axes a layer works along the batch, and samples mix.

Reported if ``transpose`` exchanged the first two axes of a result of the net right before it. Data
that was time-first before, and attention along rows and columns of images, pass.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.training import Training
from paddle_lab.analysis.findings.finding import Found, Place, warning

_BATCH_FIRST = frozenset(
    ("LSTM", "GRU", "SimpleRNN", "MultiHeadAttention", "TransformerEncoder", "TransformerDecoder",
     "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer")
)  # fmt: skip
_BETWEEN = frozenset(("add", "dropout", "layer_norm", "scale", "multiply"))
_EXCHANGE = "[1, 0, 2]"


def find(facts: Facts) -> Iterator[Found]:
    """Yield transposes right before such layers."""
    training = facts.answer(Training)
    said: set[Place] = set()
    for op in training.forward_ops("transpose"):
        if training.attribute(op, "perm") != _EXCHANGE or not training.is_fed(facts.inputs(op)[0]):
            continue
        around = training.layers_around(op)
        own = training.layer_class(around[0]) if around else ""
        if own in _BATCH_FIRST:
            continue
        reader = _layer_reader(training, op)
        place = facts.place(op)
        if reader and place not in said:
            said.add(place)
            yield warning("batch-and-time.found", place, op, layer=reader)


def _layer_reader(training: Training, op: int) -> str:
    facts, tensors = training.facts, list(training.facts.outputs(op))
    for _ in range(4):
        ops = [one for tensor in tensors for one in facts.consumers(tensor)]
        for one in ops:
            classes = {training.layer_class(scope) for scope in training.layers_around(one)}
            is_rnn = facts.op_name(one) == "transpose"  # the layer itself makes time the first axis
            found = classes & _BATCH_FIRST
            if found and (is_rnn or not found & {"LSTM", "GRU", "SimpleRNN"}):
                return min(found)
        between = [one for one in ops if facts.op_name(one) in _BETWEEN]
        tensors = [tensor for one in between for tensor in facts.outputs(one)]
    return ""


CHECK = Check(
    kind="batch-and-time",
    find=find,
    example="y, _ = nn.LSTM(8, 16)(x.transpose([1, 0, 2]))  # x is [batch, time, 8]",
    shared_cost="always",
)
