"""``gather`` picked rows of a batch where one column of each row was meant.

Contract (``paddle.gather``): the function takes whole rows, as ``x[index]`` does. The function that
works like PyTorch's ``gather`` is ``paddle.take_along_axis``.

The check reports a call with one index for each row, if every index could be a column and there are
at least twice as many rows as columns. It does not report rows that are looked up in a parameter.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import PARAMETER, Check, Facts, Found, Training, warning

_FEWEST = 8


def find(facts: Facts) -> Iterator[Found]:
    """Yield the gathers that seem to mean columns."""
    training = facts.answer(Training)
    for op in training.forward_ops("gather", "index_select"):
        pair = facts.inputs(op)
        if len(pair) != 2 or training.attribute(op, "axis") not in {"0", ""}:
            continue
        rows, index = facts.shape(pair[0]), facts.shape(pair[1])
        if len(rows) != 2 or index[:1] != rows[:1] or facts.tensor_kind(pair[0]) == PARAMETER:
            continue
        if rows[0] < _FEWEST or rows[1] * 2 > rows[0] or not training.is_fed(pair[0]):
            continue
        if _are_columns(training, pair[1], rows[1]):
            yield warning("gather-of-rows.found", facts.place(op), op, rows=rows[0],
                          columns=rows[1])  # fmt: skip


def _are_columns(training: Training, index: int, columns: int) -> bool:
    facts = training.facts
    source = training.origin(index)
    maker, seen = facts.producer(source), training.glance(source)
    if maker < 0:
        return seen is not None and seen.largest < columns
    name = facts.op_name(maker)
    if name == "randint":
        return training.attribute(maker, "high") == str(columns)
    scores = facts.shape(facts.inputs(maker)[0]) if facts.inputs(maker) else ()
    return name in {"argmax", "multinomial"} and scores[-1:] == (columns,)


CHECK = Check(find, example="v = paddle.gather(q_values, actions)  # q_values are [batch, actions]")
