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
from paddle_lab.analysis.findings.text import Text

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
    en, zh = origin.place.said(), origin.place.said("zh")
    name = facts.op_name(origin.op)
    if origin.reason == "path":
        return Text(
            en=f"From {en} on the two runs called different ops, so a decision in Python went "
            "another way.",
            zh=f"从 {zh} 开始,两次运行调用了不同的算子,说明 Python 中的某个判断走了另一条路。",
        )
    if origin.reason == "gradient":
        return Text(
            en=f"A gradient that {en} reads was not the same when the code ran again, though every "
            "op before it was: a kernel of the backward differs from run to run.",
            zh=f"{zh} 读取的梯度在再次运行时不同,而之前的算子结果都相同:反向计算中有每次结果"
            "不同的算子。",
        )
    if origin.reason == "data":
        return Text(
            en=f"The data of {en} was not the same when the code ran again from the same state and "
            f"seed; {_ops(count)} gave other results.",
            zh=f"从相同的状态和随机种子再次运行时,{zh} 的数据不同;{count} 个算子的结果随之不同。",
        )
    if origin.reason == "unwritten":
        return Text(
            en=f"{en} makes a tensor that nobody wrote before it was read by "
            f"{facts.place(origin.reader).said()}, so its values are whatever lay in memory.",
            zh=f"{zh} 创建的张量在被 {facts.place(origin.reader).said('zh')} 读取之前没有写入,"
            "其数值是内存中残留的内容。",
        )
    return Text(
        en=f"{en} (`{name}`) gave another result when the code ran again from the same state and "
        f"seed, the first of {_ops(count)} that did.",
        zh=f"从相同的状态和随机种子再次运行时,{zh}(`{name}`)给出了不同的结果,"
        f"是 {count} 个不同的算子中的第一个。",
    )


def _ops(count: int) -> str:
    return "1 op" if count == 1 else f"{count} ops"


CHECK = Check(
    kind=KIND,
    title=Text(en="Two runs from one seed differ", zh="相同种子的两次运行结果不同"),
    advice=Text(
        en="Seed every generator that the line uses, and take nothing from the time, threads or "
        "the order of files. `with paddle_lab.deterministic():` seeds Paddle, NumPy and Python and "
        "sets what makes GPU kernels repeatable; a DataLoader repeats with `num_workers=0` and "
        "`shuffle=False`.",
        zh="请为这一行用到的随机数生成器设置种子,不要依赖时间、线程或文件顺序。"
        "`with paddle_lab.deterministic():` 会为 Paddle、NumPy 和 Python 设置种子,并打开使 GPU 算子"
        "可复现的开关;DataLoader 在 `num_workers=0` 且 `shuffle=False` 时可复现。",
    ),
    find=find,
    example="noise = paddle.to_tensor(np.random.default_rng().normal(size=[4]))  # its own seed",
    cost="the code runs twice, with a digest of every output; what it writes to files it writes "
    "twice, and a copy of the state is kept",
    needs=("rerun",),
    consequence_of=("unwritten-output",),
    holds_on=(),  # two runs are compared op by op
)
