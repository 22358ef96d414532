"""Recurrent networks: a product with each weight in each time step, and the gates.

Sources: the equations of ``paddle.nn.LSTMCell``, ``GRUCell`` and ``SimpleRNNCell``. The gates of a
step, for each element of the hidden state: 21 operations in an LSTM (12 additions of the two
products and two biases, 5 activations, 4 for the cell and the output), 16 in a GRU, 4 in a simple
network. ``tests/cost/test_models.py`` compares with these cells, op by op.
"""

from __future__ import annotations

from math import prod

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.cost import UNKNOWN, Cost, multiply_adds
from paddle_lab.analysis.cost.formulas.formula import Formula, GradFormula, Needed

_GATES = {"LSTM": 21, "GRU": 16, "RNN_TANH": 4, "RNN_RELU": 4}


def rnn(call: Call) -> Cost:
    """An input ``[steps, batch, …]`` meets each weight matrix ``steps * batch`` times."""
    gates = _GATES.get(call.attribute("mode"), 0)
    if not gates:
        return UNKNOWN
    cells = prod(call.shapes[0][:2])
    weights = [shape for shape in call.listed(2) if len(shape) == 2]
    hidden = sum(shape[1] for shape in weights[1::2])  # the matrices are in pairs: input, hidden
    return multiply_adds(cells * sum(map(prod, weights)), gates * cells * hidden)


FORWARD: dict[str, Formula] = {"rnn": rnn}


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


BACKWARD: dict[str, GradFormula] = {"rnn": rnn_backward}
