"""An op handed on memory that nobody had written.

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
from paddle_lab.analysis.findings.text import Text

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
    en, zh = origin.place.said(), origin.place.said("zh")
    if origin.reason == "unwritten":
        reader = facts.place(origin.reader)
        return Text(
            en=f"{en} makes a tensor of which a part was never written, and {reader.said()} reads "
            "it.",
            zh=f"{zh} 创建的张量有一部分从未写入,却被 {reader.said('zh')} 读取。",
        )
    if origin.reason != "op":
        return Text(
            en=f"What {en} meets depends on what new memory is filled with: something before it "
            "reads memory that was never written.",
            zh=f"{zh} 的输入取决于新分配内存中的内容:之前有代码读取了从未写入的内存。",
        )
    return Text(
        en=f"{en} (`{facts.op_name(origin.op)}`) leaves a part of its output unwritten: it changes "
        "with what the memory held before.",
        zh=f"{zh}(`{facts.op_name(origin.op)}`)没有写满它的输出:结果随内存原有内容而变。",
    )


CHECK = Check(
    kind=KIND,
    title=Text(en="An output was never written", zh="输出没有被写入"),
    advice=Text(
        en="Make the tensor by `paddle.zeros` or `paddle.full`, or write all of it before it is "
        "read. If the op is Paddle's own, report it with its shapes and dtypes; in an op of "
        "yours, look for the branch or the tail of a loop that writes nothing.",
        zh="请用 `paddle.zeros` 或 `paddle.full` 创建张量,或在读取之前写满它。如果是 Paddle 自带的"
        "算子,请附上形状和数据类型反馈;如果是自定义算子,请检查没有写入的分支或循环的尾部。",
    ),
    find=find,
    example="total = paddle.empty([4])\ntotal[:3] = parts\nloss = total.sum()",
    cost="the code runs up to three times more, with new memory filled; on GPUs and on Linux",
    needs=("rerun",),
    holds_on=(),  # two runs are compared op by op
)
