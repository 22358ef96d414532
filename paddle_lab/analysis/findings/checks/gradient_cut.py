"""Trainable parameters fed this line, and no gradient can flow back through it.

``detach()``, ``stop_gradient = True``, a ``no_grad`` block, a way through NumPy or Python numbers,
``argmax``, a comparison or rounding: behind them the loss still has the right value, so training
runs and part of the model stands still.

It is an alarm where parameters that somebody trains were used, no backward call of the whole trace
reached them, and what they fed goes on through the line into a loss. So it is none for targets of
a teacher that no optimizer holds, for a generator trained in its own turn, for frozen layers, or
for a metric beside the loss. Where only the optimizer of a later cell could tell, and what comes
out of ``no_grad`` is but compared with a trained output, it is a hint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import PARAMETER, Facts
from paddle_lab.analysis.findings.finding import Found, Mark, Severity
from paddle_lab.analysis.findings.gradient_cuts import Cut, GradientCuts
from paddle_lab.analysis.findings.idle_backward import idle_calls
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.findings.text import Text
from paddle_lab.analysis.findings.trained import listed

_MOST_MARKS = 12

_DETACHED = Text(en="makes a tensor that no gradient leaves", zh="得到的是一个不再传递梯度的新张量")
_WAYS = {
    "detach": Text(en="detaches its values from the graph", zh="把数值从计算图中分离(detach)"),
    "data": Text(en="takes the values without their graph", zh="只取数值,丢掉了计算图"),
    "copy": Text(en="copies the values into a tensor without a graph",
                 zh="把数值复制到没有计算图的新张量"),
    "stop_gradient": Text(en="sets `stop_gradient`", zh="设置了 `stop_gradient`"),
    "detach_": Text(en="detaches the tensor in place", zh="原地分离了张量"),
    "no_grad": Text(en="runs under `no_grad`", zh="在 `no_grad` 下运行"),
    "no_gradient": Text(en="calls an op that has no gradient", zh="调用了不可微的算子"),
    "zero_gradient": Text(en="makes steps, whose gradient is zero everywhere",
                          zh="得到阶梯状的值,其梯度处处为零"),
    "integer": Text(en="turns the values into integers", zh="把数值转换成了整数"),
    "pylayer": Text(en="calls a PyLayer whose backward returns None for this input",
                    zh="调用的 PyLayer 在 backward 中对该输入返回了 None"),
    "untracked": Text(en="calls a PyLayer, as `recompute` does, with no input that takes gradients",
                      zh="调用的 PyLayer(`recompute` 也是)没有任何需要梯度的输入"),
    "written": Text(en="writes the values into another tensor, past the graph",
                    zh="绕过计算图,把数值写入了另一个张量"),
    "numpy": Text(en="hands the values to Python, and what comes back is a new tensor",
                  zh="把数值交给了 Python,回来的是一个新张量"),
    "number": Text(en="turns the values into a Python number", zh="把数值变成了 Python 数字"),
}  # fmt: skip


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines at which gradients of trained parameters end."""
    cuts = GradientCuts.of(facts)
    by_place: dict[tuple[Place, str], list[Cut]] = {}
    for cut in cuts.found:
        if cuts.parameters[cut]:
            by_place.setdefault((cut.place, cut.way), []).append(cut)
    for (place, way), group in by_place.items():
        # An array's numbers may meet an argument too; one way a line is enough.
        if way != "number" or (place, "numpy") not in by_place:
            yield _found(cuts, facts, group)
    yield from _returns(facts, by_place)
    if not by_place:
        yield from idle_calls(facts)


def _found(cuts: GradientCuts, facts: Facts, group: list[Cut]) -> Found:
    cut = group[0]
    parameters = {one for each in group for one in cuts.parameters[each]}
    names = sorted(cuts.trained.name(one) for one in parameters)
    way = _WAYS.get(cut.way, _DETACHED)
    if cut.op >= 0 and cut.way in ("no_gradient", "zero_gradient"):
        name = facts.op_name(cut.op)
        way = Text(en=f"{way.en} (`{name}`)", zh=f"{way.zh}(`{name}`)")
    rootless = [row for each in group for row in each.behind if row in cuts.rootless]
    dead = bool(rootless) or _leaves_nothing(cuts)
    end = Text(en=", so that backward() has nothing to do", zh=",因此 backward() 什么也不会做")
    return Found(
        place=cut.place,
        op=cut.op,
        severity=_severity(cuts, facts, group),
        message=Text(
            en=f"{cut.place.said()} {way.en}: no gradient goes back to {listed(names)}"
            f"{end.en if dead else ''}.",
            zh=f"{cut.place.said('zh')} {way.zh}:梯度无法回到 {listed(names, 'zh')}"
            f"{end.zh if dead else ''}。",
        ),
        advice=_ADVICE.get(cut.way),
        marks=_marks(cuts, group),
    )


def _leaves_nothing(cuts: GradientCuts) -> bool:
    return bool(cuts.rootless) and not cuts.reach.nodes.any()


def _severity(cuts: GradientCuts, facts: Facts, group: list[Cut]) -> Severity:
    if _leaves_nothing(cuts) and any(map(facts.backward_error, facts.user_backward_calls)):
        return "error"
    if cuts.trained.holders or group[0].way != "no_grad":
        return "warning"
    return "warning" if any(_feeds_parameters(cuts, facts, cut) for cut in group) else "info"


def _feeds_parameters(cuts: GradientCuts, facts: Facts, cut: Cut) -> bool:
    """Tell whether trained parameters work on what comes out, or it is the loss itself."""
    pending, seen = list(cut.behind), set()
    while pending:
        row = pending.pop()
        if row in cuts.rootless:
            return True
        if row in seen:
            continue
        seen.add(row)
        for op in facts.consumers(row):
            if cuts.reach.ops[op]:
                if any(facts.tensor_kind(one) == PARAMETER for one in facts.inputs(op)):
                    return True
            else:
                pending.extend(facts.outputs(op))
    return False


def _marks(cuts: GradientCuts, group: list[Cut]) -> list[Mark]:
    ops = dict.fromkeys(cut.op for cut in group if cut.op >= 0)
    marks = [Mark("cut", op=op) for op in list(ops)[:_MOST_MARKS]]
    readers = dict.fromkeys(
        op
        for cut in group
        for parameter in cuts.parameters[cut]
        for op in cuts.trained.used[parameter][:1]
        if op not in ops
    )
    return [*marks, *(Mark("related", op=op) for op in list(readers)[:_MOST_MARKS])]


def _returns(facts: Facts, groups: Iterable[tuple[Place, str]]) -> Iterator[Found]:
    """Yield the other end of a way: where values came back, or the ``no_grad`` that was begun."""
    cuts = GradientCuts.of(facts)
    known = {place for place, _ in groups}
    for cut in cuts.found:
        if cut.event < 0 or cut.way not in ("numpy", "no_grad") or not cuts.parameters[cut]:
            continue
        place = facts.place_of_stack(int(facts.record.events["stack"][cut.event]))
        if place in known or not place.line:
            continue
        known.add(place)
        if cut.way == "numpy":
            message = Text(
                en=f"{place.said()} makes a tensor of values that {cut.place.said()} took out of "
                "the graph; their gradient ends there.",
                zh=f"{place.said('zh')} 用 {cut.place.said('zh')} 取出的数值新建了张量,"
                "梯度到那里为止。",
            )
        else:
            message = Text(
                en=f"{place.said()} switches gradients off for {cut.place.said()}.",
                zh=f"{place.said('zh')} 使 {cut.place.said('zh')} 不再记录梯度。",
            )
        yield Found(place=place, op=cut.op, severity="info", message=message)


_NUMPY_ADVICE = Text(
    en="Compute with Paddle's own ops (`paddle.clip` for `np.clip`), and keep `numpy()` and "
    "`float()` for what is only looked at.",
    zh="请用 Paddle 的算子完成计算(例如用 `paddle.clip` 代替 `np.clip`),`numpy()` 和 "
    "`float()` 只用于查看数值。",
)
_ADVICE = {
    "numpy": _NUMPY_ADVICE,
    "number": _NUMPY_ADVICE,
    "no_grad": Text(
        en="Take what is to be trained out of the `no_grad` block. If it shall stand still, set "
        "`stop_gradient = True` on its parameters or leave them out of the optimizer.",
        zh="把需要训练的部分移出 `no_grad`;若确实要冻结它,请把这些参数的 `stop_gradient` 设为 "
        "`True`,或不要交给优化器。",
    ),
    "no_gradient": Text(
        en="Use a loss of the values themselves: cross entropy of the logits for an accuracy, a "
        "softmax or sigmoid for an argmax or a threshold.",
        zh="请改用对数值本身可微的形式:用 logits 的交叉熵代替准确率,用 softmax 或 sigmoid "
        "代替 argmax 或阈值比较。",
    ),
    "zero_gradient": Text(
        en="Where rounding belongs to the model, let the gradient pass: "
        "`x + (paddle.round(x) - x).detach()`.",
        zh="若模型确实需要取整,可用直通估计让梯度通过:`x + (paddle.round(x) - x).detach()`。",
    ),
    "written": Text(
        en="Go on with the tensor itself, or write it with an op: `paddle.assign(x, output)` and "
        "`buffer[...] = x` keep the gradient.",
        zh="请直接使用该张量,或用算子写入:`paddle.assign(x, output)` 和 `buffer[...] = x` "
        "会保留梯度。",
    ),
    "pylayer": Text(
        en="Return a gradient for every input of `forward` that is to learn; Paddle takes None "
        "for zeros.",
        zh="请在 `backward` 中为每个需要学习的输入返回梯度;Paddle 会把 None 当作零。",
    ),
    "untracked": Text(
        en="Paddle tracks a PyLayer by its inputs alone. Pass `use_reentrant=False` to "
        "`recompute`, or call the first block without it; give a PyLayer of your own the weights "
        "as inputs.",
        zh="Paddle 只根据输入来追踪 PyLayer。请给 `recompute` 传入 `use_reentrant=False`,"
        "或不对第一个模块做重计算;自定义的 PyLayer 请把权重作为输入传入。",
    ),
    "integer": Text(
        en="Leave out the cast: an integer has no gradient, and casting back does not bring it "
        "back.",
        zh="请去掉这次类型转换:整数没有梯度,再转回浮点数也无法恢复。",
    ),
}

CHECK = Check(
    kind="gradient-cut",
    title=Text(en="Where a gradient is cut", zh="梯度在哪里被切断"),
    advice=Text(
        en="Leave the line out if these parameters are to learn. If they are meant to stand still, "
        "leave them out of the optimizer or set `stop_gradient = True` on them.",
        zh="若这些参数需要学习,请去掉这一操作;若有意冻结,请不要把它们交给优化器,"
        "或把它们的 `stop_gradient` 设为 `True`。",
    ),
    find=find,
    example="features = encoder(x).detach()\nloss = head(features).mean()\nloss.backward()",
    cost="next to nothing: a note where a tensor is detached, read by Python or made from it",
    holds_on=(),  # a backward call that reaches it may be in another part
)
