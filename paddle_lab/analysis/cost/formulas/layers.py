"""Convolutions, attention and recurrent networks: their products and elementwise operations.

Sources: for convolutions, Dumoulin and Visin, "A guide to convolution arithmetic for deep learning"
(2016). Positions in the padding count as well, as in ``paddle.flops`` and in published figures.

For attention, Vaswani et al., "Attention Is All You Need" (2017), and for its backward Dao et al.,
"FlashAttention" (2022). With a causal mask the whole product still counts, as in PyTorch's
``flop_counter`` and in nanoGPT's ``transformer_sizing.ipynb``, although a kernel may skip half of
it.

For recurrent networks, the equations of ``paddle.nn.LSTMCell``, ``GRUCell`` and ``SimpleRNNCell``.
In one step, the gates take these operations for each element of the hidden state: 21 in an LSTM (12
additions of the two products and two biases, 5 activations, 4 for the cell and the output), 16 in a
GRU, 4 in a simple network. ``tests/cost/test_models.py`` compares them with these cells, op by op.
"""

from __future__ import annotations

from math import prod

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.formulas.formula import (
    UNKNOWN,
    Cost,
    Formula,
    GradFormula,
    Needed,
    multiply_adds,
    products_backward,
)

_CONVOLUTIONS = ("conv2d", "conv3d", "depthwise_conv2d")
_TRANSPOSED = ("conv2d_transpose", "conv3d_transpose", "depthwise_conv2d_transpose")
_ATTENTION = ("flash_attn", "memory_efficient_attention")
_GATES = {"LSTM": 21, "GRU": 16, "RNN_TANH": 4, "RNN_RELU": 4}


def convolution(call: Call) -> Cost:
    """Each output element is a sum over ``[in / groups, *kernel]`` of the weight."""
    return multiply_adds(call.out * prod(call.shapes[1][1:]))


def transposed(call: Call) -> Cost:
    """Each input element is multiplied with ``out / groups`` kernels."""
    return multiply_adds(prod(call.shapes[0]) * prod(call.shapes[1][1:]))


def _scores(call: Call) -> tuple[int, int] | None:
    """Return the number of attention scores, and the multiply-adds of one of the two products."""
    if len(call.shapes) < 3 or {len(shape) for shape in call.shapes[:3]} != {4}:
        return None
    (batch, rows, heads, width), (_, columns, _, _) = call.shapes[:2]
    scores = batch * heads * rows * columns
    return scores, scores * width


def attention(call: Call) -> Cost:
    """``softmax(q @ k^T * scale) @ v`` of ``[batch, rows, heads, width]``.

    It takes two products, and for each score 1 operation for the scaling and 5 for the softmax.
    """
    found = _scores(call)
    return multiply_adds(2 * found[1], 6 * found[0]) if found else UNKNOWN


def attention_backward(call: Call, needed: Needed) -> Cost:
    """Five products: the scores again, and the gradients of scores, values, queries and keys.

    Each score takes 6 operations for the softmax, 4 for its gradient and 1 for the scaling.
    """
    found = _scores(call)
    return multiply_adds(5 * found[1], 11 * found[0]) if found else UNKNOWN


def rnn(call: Call) -> Cost:
    """Multiply each weight matrix ``steps * batch`` times, for an input ``[steps, batch, …]``."""
    gates = _GATES.get(call.attribute("mode"), 0)
    if not gates:
        return UNKNOWN
    cells = prod(call.shapes[0][:2])
    weights = [shape for shape in call.listed(2) if len(shape) == 2]
    hidden = sum(shape[1] for shape in weights[1::2])  # the matrices are in pairs: input, hidden
    return multiply_adds(cells * sum(map(prod, weights)), gates * cells * hidden)


def rnn_backward(call: Call, needed: Needed) -> Cost:
    """Each product has two gradients, but the input of the first layer may need none.

    A gate needs a derivative and a multiplication, so twice the operations of the forward.
    """
    forward = rnn(call)
    if forward.flops < 0:
        return UNKNOWN
    cells = prod(call.shapes[0][:2])
    directions = 2 if call.attribute("is_bidirec") is True else 1
    weights = [shape for shape in call.listed(2) if len(shape) == 2]
    of_input = cells * sum(map(prod, weights[: 2 * directions : 2]))
    states = len(call.listed(1))
    with_weights = any(slot > states for slot in needed)
    macs = forward.macs * (1 + with_weights) - (0 if 0 in needed else of_input)
    return multiply_adds(macs, 2 * (forward.flops - 2 * forward.macs))


FORWARD: dict[str, Formula] = {
    **dict.fromkeys(_CONVOLUTIONS, convolution),
    **dict.fromkeys(_TRANSPOSED, transposed),
    **dict.fromkeys(_ATTENTION, attention),
    "rnn": rnn,
}
BACKWARD: dict[str, GradFormula] = {
    **dict.fromkeys(_CONVOLUTIONS, products_backward(convolution)),
    **dict.fromkeys(_TRANSPOSED, products_backward(transposed)),
    **dict.fromkeys(_ATTENTION, attention_backward),
    "rnn": rnn_backward,
}
