"""An op returned memory that was never written.

The code runs with every new block of memory filled with one byte, and again with another. What
differs between the two, and not between two runs with the same byte, was never written: a kernel of
one's own that skips a part of its output, a ``paddle.empty`` that is filled only in part.

A part that is unwritten and never read is no alarm, nor is a tensor that is written before it is
read.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Found
from paddle_lab.analysis.findings.reruns import Differences, Origin
from paddle_lab.words import Text

KIND = "unwritten-output"


def find(facts: Facts) -> Iterator[Found]:
    """Yield each op that made something of unwritten memory."""
    differences = Differences(facts, KIND)
    for origin in differences.origins():
        yield Found(
            place=origin.place,
            op=origin.op,
            severity="warning",
            message=_message(facts, origin),
            marks=differences.marks(origin),
        )


def _message(facts: Facts, origin: Origin) -> Text:
    place = origin.place
    if origin.reason == "unwritten":
        reader = facts.place(origin.reader)
        return Text("findings.unwritten-output.unwritten", place=place, reader=reader)
    if origin.reason != "op":
        return Text("findings.unwritten-output.elsewhere", place=place)
    return Text("findings.unwritten-output.op", place=place, name=facts.op_name(origin.op))


CHECK = Check(
    kind=KIND,
    find=find,
    example="total = paddle.empty([4])\ntotal[:3] = parts\nloss = total.sum()",
    needs=("rerun",),
    holds_on=(),  # two runs are compared op by op
)
