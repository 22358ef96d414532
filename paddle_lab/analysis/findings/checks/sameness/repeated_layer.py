"""A container has the same layer several times: ``[block] * 6`` is one block.

Contract: each entry of ``Sequential`` and ``LayerList`` is a different layer. To share weights on
purpose, ``forward`` calls one layer several times, which the check does not report.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import KEEPS, Check, Facts, Found, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that made such containers."""
    training = facts.answer(Training)
    for call in training.called("LayerList.__init__", "Sequential.__init__"):
        name, times = call.detail
        yield warning("repeated-layer.found", training.place(call), -1, name=name, n=int(times))


CHECK = Check(find, example="nn.Sequential(*[nn.Linear(64, 64)] * 6)", holds_on=KEEPS)
