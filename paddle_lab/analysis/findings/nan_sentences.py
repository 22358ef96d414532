"""How a source of NaN or Inf is told: its place, and one sentence."""

from __future__ import annotations

from paddle_lab.analysis.findings.facts import PARAMETER, Facts
from paddle_lab.analysis.findings.nan_causes import Cause
from paddle_lab.analysis.findings.nan_sources import Flow, Source
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.findings.text import Text

OUTSIDE_ADVICE = Text(
    en="Look at the data before they go in: `paddle.isfinite(x).all()` tells; check files, labels "
    "and normalisation, and where a parameter is NaN, start again from an earlier checkpoint.",
    zh="在使用之前先检查数据:`paddle.isfinite(x).all()` 可以判断;请检查数据文件、标签和归一化;"
    "如果是参数已经为 NaN,请从更早的检查点重新开始。",
)

_REACHES = {
    "loss": Text(en="the loss", zh="损失"),
    "gradient": Text(en="a gradient", zh="梯度"),
    "parameter": Text(en="a parameter", zh="参数"),
}


def place_of(facts: Facts, source: Source) -> Place:
    """Return the line to name."""
    record = facts.record
    event = event_behind(facts, source) if source.kind == "outside" else -1
    if event >= 0:
        place = facts.place_of_stack(int(record.events["stack"][event]))
        if place.line:
            return place
    if source.kind == "backward" and source.op < 0:
        return facts.place_of_stack(int(record.backward_calls["stack"][source.backward_call]))
    return facts.place(source.op)


def event_behind(facts: Facts, source: Source) -> int:
    """Return the event that brought a tensor's values in, -1 where none is known."""
    events = facts.record.events
    for kind in ("overwritten", "created"):
        for event in reversed(facts.events(kind)):
            if (
                events["tensor"][event] == source.tensor
                and events["ops_before"][event] <= source.op
            ):
                return event
    return -1


def message_of(flow: Flow, source: Source, place: Place, cause: Cause | None) -> Text:
    """Return the sentence."""
    if source.kind == "backward":
        begin = _in_backward(flow.facts, source, place)
    elif source.kind == "op":
        begin = _in_forward(flow, source, place)
    else:
        begin = _from_outside(flow, source, place)
    why = cause.text if cause is not None else Text(en="", zh="")
    ends = _end(flow.facts, source)
    # Between Chinese and a Latin name stands a space, as everywhere in these sentences.
    space = " " if why.zh[:1].isascii() else ""
    return Text(
        en=f"{begin.en}{f', since {why.en}' if why.en else ''}{ends.en}.",
        zh=f"{begin.zh}{f',因为{space}{why.zh}' if why.zh else ''}{ends.zh}。",
    )


def _in_forward(flow: Flow, source: Source, place: Place) -> Text:
    facts = flow.facts
    outputs = [flow.numbers.of(tensor) for tensor in facts.outputs(source.op)]
    found = [numbers for numbers in outputs if numbers is not None]
    nans, infs = sum(one.nans for one in found), sum(one.infs for one in found)
    total = sum(one.elements for one in found if one.nans or one.infs)
    what = " and ".join(
        [*([f"{nans:,} NaN"] if nans else []), *([f"{infs:,} Inf"] if infs else [])]
    )
    name = facts.op_name(source.op)
    if source.is_meant:
        return Text(
            en=f"{place.said()} wrote {what} into a tensor of {total:,} values",
            zh=f"{place.said('zh')} 向一个有 {total:,} 个值的张量写入了 "
            f"{what.replace(' and ', ' 和 ')}",
        )
    return Text(
        en=f"{place.said()} is where it begins: {name} made {what} among {total:,} values",
        zh=f"{place.said('zh')} 是源头:{name} 的 {total:,} 个结果中出现了 "
        f"{what.replace(' and ', ' 和 ')}",
    )


def _in_backward(facts: Facts, source: Source, place: Place) -> Text:
    what = "NaN" if source.is_nan else "Inf"
    node = facts.record.text(int(facts.record.grad_nodes["name"][source.grad_node]))
    if source.op < 0:
        return Text(
            en=f"In the backward call of {place.said()} {node} made {what} of finite gradients; "
            "its forward is not in this trace",
            zh=f"在 {place.said('zh')} 的反向计算中,{node} 由有限的梯度得到了 {what};"
            "它的前向不在这次记录中",
        )
    return Text(
        en=f"Only the backward of {place.said()} makes {what} ({node} was given finite gradients)",
        zh=f"{place.said('zh')} 只在反向时产生 {what}(传给 {node} 的梯度是有限的)",
    )


def _from_outside(flow: Flow, source: Source, place: Place) -> Text:
    facts = flow.facts
    numbers = flow.numbers.of(source.tensor, source.op)
    bad = 0 if numbers is None else numbers.nans + numbers.infs
    total = 0 if numbers is None else numbers.elements
    what = "NaN" if source.is_nan else "Inf"
    shape = list(facts.shape(source.tensor))
    counted = Text(en=f"{bad:,} of {total:,} values", zh=f"{total:,} 个值中有 {bad:,} 个")
    if source.kind == "gradient":
        return Text(
            en=f"{place.said()} read a gradient of shape {shape} that already held {what} "
            f"({counted.en})",
            zh=f"{place.said('zh')} 读取的形状为 {shape} 的梯度已经含有 {what}({counted.zh})",
        )
    if facts.tensor_kind(source.tensor) == PARAMETER:
        name = facts.path(source.tensor) or f"a parameter of shape {shape}"
        name_zh = facts.path(source.tensor) or f"形状为 {shape} 的参数"
        if event_behind(facts, source) >= 0:
            return Text(
                en=f"{place.said()} wrote {what} into {name} ({counted.en})",
                zh=f"{place.said('zh')} 向 {name_zh} 写入了 {what}({counted.zh})",
            )
        return Text(
            en=f"{place.said()} met {name}, which already held {what} ({counted.en}) before any op "
            "of this trace wrote to it",
            zh=f"{place.said('zh')} 处的 {name_zh} 在本次记录之前就已含有 {what}({counted.zh})",
        )
    return Text(
        en=f"{place.said()} brought {what} in from outside, in data of shape {shape} "
        f"({counted.en})",
        zh=f"{place.said('zh')} 从外部带入了 {what},数据形状为 {shape}({counted.zh})",
    )


def _end(facts: Facts, source: Source) -> Text:
    steps: list[Text] = []
    if source.became_nan >= 0 and not source.is_nan and source.became_nan != source.op:
        place, here = facts.place(source.became_nan), facts.place(source.op)
        steps.append(
            Text(en="became NaN on the same line", zh="在同一行变成了 NaN")
            if place == here
            else Text(en=f"became NaN at {place.said()}", zh=f"在 {place.said('zh')} 变成了 NaN")
        )
    reached = [text for key, text in _REACHES.items() if key in source.reaches]
    if reached:
        names = [", ".join(text.en for text in reached[:-1]), reached[-1].en]
        steps.append(
            Text(
                en=f"reached {' and '.join(name for name in names if name)}",
                zh=f"影响到了{'、'.join(text.zh for text in reached)}",
            )
        )
    if not steps:
        if source.reaches:
            return Text(en="", zh="")
        return Text(en="; nothing took it any further", zh=";它没有影响到后面的结果")
    return Text(
        en=f"; it {' and '.join(step.en for step in steps)}",
        zh=f";它{',并'.join(step.zh for step in steps)}",
    )
