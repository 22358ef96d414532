"""Convolutions, attention and recurrent networks: the products, and the elementwise operations.

Sources: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning" (2016). Positions
in the padding count as well, as in ``paddle.flops`` and in published figures.

Vaswani et al., "Attention Is All You Need" (2017); for the backward Dao et al., "FlashAttention"
(2022). A causal mask changes nothing: the whole product counts, as in PyTorch's ``flop_counter``
and in nanoGPT's ``transformer_sizing.ipynb``. A kernel may skip half of it.

The equations of ``paddle.nn.LSTMCell``, ``GRUCell`` and ``SimpleRNNCell``. The gates of a step, for
each element of the hidden state: 21 operations in an LSTM (12 additions of the two products and two
biases, 5 activations, 4 for the cell and the output), 16 in a GRU, 4 in a simple network.
``tests/cost/test_models.py`` compares with these cells, op by op.
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
    """Return how many scores there are, and the multiply-adds of one of the two products."""
    if len(call.shapes) < 3 or {len(shape) for shape in call.shapes[:3]} != {4}:
        return None
    (batch, rows, heads, width), (_, columns, _, _) = call.shapes[:2]
    scores = batch * heads * rows * columns
    return scores, scores * width


def attention(call: Call) -> Cost:
    """``softmax(q @ k^T * scale) @ v`` of ``[batch, rows, heads, width]``.

    Two products; for each score a scaling, and 5 operations of the softmax.
    """
    found = _scores(call)
    return multiply_adds(2 * found[1], 6 * found[0]) if found else UNKNOWN


def attention_backward(call: Call, needed: Needed) -> Cost:
    """Five products: the scores once more, and the gradients of scores, values, queries, keys.

    The softmax takes 6 operations for each score once more, its gradient 4, the scaling 1.
    """
    found = _scores(call)
    return multiply_adds(5 * found[1], 11 * found[0]) if found else UNKNOWN


def rnn(call: Call) -> Cost:
    """An input ``[steps, batch, …]`` multiplies each weight matrix ``steps * batch`` times."""
    gates = _GATES.get(call.attribute("mode"), 0)
    if not gates:
        return UNKNOWN
    cells = prod(call.shapes[0][:2])
    weights = [shape for shape in call.listed(2) if len(shape) == 2]
    hidden = sum(shape[1] for shape in weights[1::2])  # the matrices are in pairs: input, hidden
    return multiply_adds(cells * sum(map(prod, weights)), gates * cells * hidden)


def rnn_backward(call: Call, needed: Needed) -> Cost:
    """Each product has two gradients, but the first layer's input may need none.

    A gate needs a derivative and a multiplication: twice the forward's operations.
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
