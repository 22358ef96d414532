"""Attention in one kernel: two products, and a softmax between them.

Sources: Vaswani et al., "Attention Is All You Need" (2017); for the backward Dao et al.,
"FlashAttention" (2022). A causal mask changes nothing: the whole product counts, as in PyTorch's
``flop_counter`` and in nanoGPT's ``transformer_sizing.ipynb``. A kernel may skip half of it.
"""

from __future__ import annotations

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.cost import UNKNOWN, Cost, multiply_adds
from paddle_lab.analysis.cost.formulas.formula import Formula, GradFormula, Needed


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


_NAMES = ("flash_attn", "memory_efficient_attention")

FORWARD: dict[str, Formula] = dict.fromkeys(_NAMES, attention)
BACKWARD: dict[str, GradFormula] = dict.fromkeys(_NAMES, attention_backward)
