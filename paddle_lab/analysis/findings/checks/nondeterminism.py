"""The same code gave something else when it ran again from the same state and seed.

The code runs once more with parameters, buffers, optimizer, variables and random generators as
they were, and every op's outputs are compared by a digest of their bytes. The first op that differs
while nothing that it read did is where it began: data that depends on time or on a generator of its
own, memory that nobody wrote, a kernel whose threads add in another order.

What Paddle's, NumPy's and Python's generators give is no alarm, seeded or not: they are put back.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Found
from paddle_lab.analysis.findings.reruns import Differences, Origin
from paddle_lab.words import Text

KIND = "nondeterminism"


def find(facts: Facts) -> Iterator[Found]:
    """Yield each op from which a difference spread."""
    differences = Differences(facts, KIND)
    for origin in differences.origins():
        yield Found(
            place=origin.place,
            op=origin.op,
            severity="warning",
            message=_message(facts, origin, differences.op_count),
            marks=differences.marks(origin),
        )


def _message(facts: Facts, origin: Origin, count: int) -> Text:
    place, name = origin.place, facts.op_name(origin.op)
    if origin.reason in ("path", "gradient"):
        return Text(f"findings.nondeterminism.{origin.reason}", place=place)
    if origin.reason == "data":
        return Text("findings.nondeterminism.data", place=place, count=count)
    if origin.reason == "unwritten":
        reader = facts.place(origin.reader)
        return Text("findings.nondeterminism.unwritten", place=place, reader=reader)
    return Text("findings.nondeterminism.op", place=place, name=name, count=count)


CHECK = Check(
    kind=KIND,
    find=find,
    example="noise = paddle.to_tensor(np.random.default_rng().normal(size=[4]))  # its own seed",
    needs=("rerun",),
    consequence_of=("unwritten-output",),
    holds_on=(),  # two runs are compared op by op
)
