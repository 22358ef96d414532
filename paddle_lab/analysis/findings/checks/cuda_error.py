"""The op at which a GPU first reported an error.

Kernels run asynchronously, so an error appears at some later op. With ``FLAGS_check_cuda_error``
Paddle waits for the GPU around every op and every grad node. Then either the op that raised failed,
or the work that ran on the GPU right before it.
Builds without CUDA have no such errors and do not have this check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Mark, found

_SIGN = re.compile(r"CUDA error\s?\(?(?P<code>\d{1,3})\)?")


def find(facts: Facts) -> Iterator[Found]:
    """Yield the op or the backward call that raised a CUDA error."""
    sign = _SIGN.search(facts.record.origin.exception)
    if sign is None:
        return
    failed = np.flatnonzero(facts.record.ops["raised"]).tolist()
    calls = [one for one in facts.user_backward_calls if _SIGN.search(facts.backward_error(one))]
    if not failed and not calls:
        return
    op = failed[-1] if failed else -1
    place = facts.place(op) if failed else facts.place_of_call(calls[-1])
    marks = [Mark("failed", op)] if op >= 0 else []
    yield found("cuda-error.found", place, op, severity="error", marks=marks, code=sign["code"])


CHECK = Check(
    find=find,
    example="table.gather(paddle.to_tensor([10 ** 6]))  # on a GPU, seen three ops later",
    needs=("cuda",),
)
