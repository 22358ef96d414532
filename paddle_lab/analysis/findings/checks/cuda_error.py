"""The op at which a GPU first reported an error.

Kernels run behind the Python code, so an error shows at some later op. With
``FLAGS_check_cuda_error`` Paddle waits for the GPU around every op and every grad node: the one
that raised is the first that failed, or the error happened in what ran on the GPU right before it.

Builds without CUDA have no such errors; there the check is absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.text import Text

_SIGN = re.compile(r"CUDA error\s?\(?(?P<code>\d{1,3})\)?")


def find(facts: Facts) -> Iterator[Found]:
    """Yield the op or the backward call that a CUDA error ended."""
    record = facts.record
    sign = _SIGN.search(record.origin.exception)
    if sign is None:
        return
    failed = np.flatnonzero(record.ops["raised"]).tolist()
    calls = [
        call
        for call in facts.user_backward_calls
        if _SIGN.search(record.text(int(record.backward_calls["error"][call])))
    ]
    op = int(failed[-1]) if failed else -1
    if op >= 0:
        place = facts.place(op)
    elif calls:
        place = facts.place_of_stack(int(record.backward_calls["stack"][calls[-1]]))
    else:
        return
    yield Found(
        place=place,
        op=op,
        severity="error",
        message=Text(
            en=f"{place.said()} is where the GPU first reported CUDA error {sign['code']}.",
            zh=f"GPU 首次报告 CUDA 错误 {sign['code']} 的位置是 {place.said('zh')}。",
        ),
        marks=[Mark("failed", op=op)] if op >= 0 else [],
    )


CHECK = Check(
    kind="cuda-error",
    title=Text(en="The op at which a GPU failed", zh="GPU 出错的算子"),
    advice=Text(
        en="Restart the kernel, since the GPU's context is lost. For an illegal address (700) set "
        "`FLAGS_use_system_allocator=1` before importing Paddle as well: its pool of memory hides "
        "small overruns. Run the line on the CPU, where an index out of range is told in words.",
        zh="GPU 上下文已失效,请重启内核。遇到非法地址(700)时,还应在导入 Paddle 之前设置 "
        "`FLAGS_use_system_allocator=1`:显存池会掩盖小的越界。请在 CPU 上运行这一行,"
        "下标越界会得到明确的提示。",
    ),
    find=find,
    example="table.gather(paddle.to_tensor([10 ** 6]))  # on a GPU, seen three ops later",
    cost="GPU builds only: waits for the GPU around every op, which can slow it many times over",
    needs=("cuda",),
)
