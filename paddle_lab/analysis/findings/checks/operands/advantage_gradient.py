"""A weight of log-probabilities passes a gradient on to the estimate that it was computed from.

Contract (Mnih et al. 2016, A3C): the advantage, a return minus its estimate, is a constant factor
of the log-probabilities. A term of its own fits the estimate to the returns.

The check reports a product of log-probabilities and a difference, if a backward call trains the
last layer of the estimate by both. It does not report an estimate that only one of them trains.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.facts.training import AFFINE, LOSSES, PASSING
from paddle_lab.analysis.findings.gradients.trained import Trained
from paddle_lab.analysis.findings.parts import PARAMETER, Check, Facts, Found, walk, warning

_ARITHMETIC = frozenset(("add", "subtract", "multiply", "divide", "scale", "mean", "std", "sum",
                         "square", "pow"))  # fmt: skip
_MOVING = PASSING | {"take_along_axis", "gather_nd", "index_sample", "exp", "clip"}
_LOGS = LOSSES | {"log", "log_softmax"}
_SQUARES = {"square", "pow", "multiply"}
_SIZES = {"square", "pow", "abs", "huber_loss"}


def find(facts: Facts) -> Iterator[Found]:
    """Yield the products of log-probabilities and differences that have a gradient."""
    told: set[int] = set()
    for call in facts.user_backward_calls:
        ops = {op for node in facts.nodes_of_call(call) if (op := facts.op_of_node(node)) >= 0}
        products = [op for op in sorted(ops) if facts.op_name(op) == "multiply"
                    and len(facts.inputs(op)) == 2 and facts.stack(op) not in told]  # fmt: skip
        fitted = _fitted(facts, ops) if products else set()
        for op in products if fitted else ():
            makers = [_makers(facts, one) for one in facts.inputs(op)]
            for factor, other in (makers, makers[::-1]):
                names = [facts.op_name(one) for one in factor]
                heads = _heads(facts, factor) & fitted
                is_weight = heads and "subtract" in names and _LOGS.isdisjoint(names)
                if is_weight and _are_logs(facts, other):
                    told.add(facts.stack(op))
                    name = facts.answer(Trained).names([min(heads)])
                    yield warning("advantage-gradient.found", facts.place(op), op, name=name)


def _are_logs(facts: Facts, makers: list[int]) -> bool:
    """Tell whether ops compute log-probabilities; those of a normal distribution are distances."""
    names = [facts.op_name(op) for op in makers]
    return not _LOGS.isdisjoint(names) or (
        "subtract" in names and not _SQUARES.isdisjoint(names) and bool(_heads(facts, makers))
    )


def _fitted(facts: Facts, ops: set[int]) -> set[int]:
    """Return the last weights of the values whose distance from others is a loss."""
    found: set[int] = set()
    for op in ops:
        if facts.op_name(op) in _SIZES:
            makers = _makers(facts, facts.inputs(op)[0])
            if _LOGS.isdisjoint(map(facts.op_name, makers)):
                found |= _heads(facts, makers)
    return found


def _makers(facts: Facts, tensor: int) -> list[int]:
    """Return the ops that computed a tensor with its graph, back to layers, losses and logs."""

    def before(one: int) -> list[int]:
        maker = facts.producer(one)
        is_inner = maker >= 0 and facts.op_name(maker) in _ARITHMETIC | _MOVING
        return [each for each in facts.inputs(maker) if facts.needs_grad(each)] if is_inner else []

    makers = map(facts.producer, walk([tensor], before) if facts.needs_grad(tensor) else ())
    return [one for one in makers if one >= 0]


def _heads(facts: Facts, makers: list[int]) -> set[int]:
    """Return the parameters of the layers among ops."""
    return {
        facts.first_value(one)
        for op in makers if facts.op_name(op) in AFFINE
        for one in facts.inputs(op) if facts.tensor_kind(one) == PARAMETER
    }  # fmt: skip


CHECK = Check(
    find=find,
    example="adv = returns - value\nloss = -(log_prob * adv).mean() + mse(value, returns)",
)
