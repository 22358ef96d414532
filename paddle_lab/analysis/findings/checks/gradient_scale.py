"""Gradients shrank to nothing, or grew beyond bounds, on their way through the layers.

Where each layer makes gradients a little smaller (saturated sigmoids, weights that are too small),
a deep network's first layers get next to none and do not learn; where each makes them larger, steps
overshoot until numbers overflow. The curve over depth shows it: the gradient per value at the first
layers against that at the last ones.

That is worth knowing, not an alarm: networks with strong normalisation train with gradients of very
different sizes. It is an alarm where a gradient fell to exactly zero after it had become tiny, or
became infinite after it had become huge. A gradient that is zero for another reason (a dead ReLU,
weights that begin at zero) is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.text import Text
from paddle_lab.analysis.gradients.curve import DepthPoint, GradientCurve
from paddle_lab.analysis.gradients.gradient import Gradient
from paddle_lab.analysis.gradients.gradient_table import GradientTable

_FEWEST_LAYERS = 6
_STRIKING = 1e4
# Magnitudes on the way to zero and to infinity, as far from either as no healthy gradient is.
_TINY = {"float16": 1e-6, "float64": 1e-150, "complex128": 1e-150}
_HUGE = {"float16": 1e4, "float64": 1e150, "complex128": 1e150}
_USUAL_TINY, _USUAL_HUGE = 1e-25, 1e25


def find(facts: Facts) -> Iterator[Found]:
    """Yield, of each backward call, what was lost or overflowed, or else how the scale changes."""
    table = GradientTable(facts.record)
    said: set[tuple[str, int]] = set()
    for call in sorted({row.backward_call for row in table}):
        rows = [row for row in table if row.backward_call == call]
        found = _extreme(facts, rows) or _drift(facts, GradientCurve.of(facts.record, call))
        if found is not None and (found.place.file, found.place.line) not in said:
            said.add((found.place.file, found.place.line))
            yield found


def _extreme(facts: Facts, rows: list[Gradient]) -> Found | None:
    """Find the first gradient that is zero or infinite because of its size."""
    arrived: dict[int, list[Gradient]] = {}
    for row in rows:
        arrived.setdefault(row.target_node, []).append(row)
    for row in rows:
        before = arrived.get(row.source_node, [])
        if not before or any(other.nans or other.infs for other in before):
            continue
        magnitude = max(other.magnitude for other in before)
        vanished = row.zeros == row.elements and 0 < magnitude < _TINY.get(row.dtype, _USUAL_TINY)
        is_finite = row.nans + row.infs == 0  # infinities of both signs sum up to NaN
        overflowed = not is_finite and magnitude > _HUGE.get(row.dtype, _USUAL_HUGE)
        if vanished or overflowed:
            return _lost(facts, row, magnitude, overflowed=overflowed)
    return None


def _lost(facts: Facts, row: Gradient, magnitude: float, *, overflowed: bool) -> Found:
    op = row.op.key if row.op else -1
    place = facts.place(op)
    became = (
        ("overflowed to infinity", "上溢为无穷大") if overflowed else ("fell to zero", "下溢为零")
    )
    return Found(
        place=place,
        op=op,
        grad_node=row.source_node,
        severity="warning",
        message=Text(
            en=f"On its way back through {place.said()} the gradient {became[0]}: "
            f"its largest value was {magnitude:.1e} before, in {row.dtype}.",
            zh=f"反向经过 {place.said('zh')} 时,梯度{became[1]}:此前其最大绝对值为 {magnitude:.1e}"
            f"({row.dtype})。",
        ),
        marks=[Mark("origin", op=op, grad_node=row.source_node)],
    )


def _drift(facts: Facts, curve: GradientCurve) -> Found | None:
    """Compare what flows through the first layers with what flows through the last ones."""
    points = [point for point in curve if point.flowing and point.flowing.rms > 0]
    if len(points) < _FEWEST_LAYERS:
        return None
    third = len(points) // 3
    first, last = (_usual(part) for part in (points[:third], points[-third:]))
    ratio = first / last
    if 1 / _STRIKING < ratio < _STRIKING:
        return None
    start, end = points[-1], points[0]
    place = facts.place(end.first_op)
    vanishing = ratio < 1
    factor = 1 / ratio if vanishing else ratio
    grows = ("shrinks", "缩小") if vanishing else ("grows", "放大")
    return Found(
        place=place,
        op=end.first_op,
        severity="info",
        message=Text(
            en=f"From `{start.label}` back to `{end.label}` the gradient {grows[0]} by a factor of "
            f"about {factor:.0e} over {len(points)} layers ({last:.1e} to {first:.1e} per value).",
            zh=f"从 `{start.label}` 反传到 `{end.label}`,经过 {len(points)} 层,梯度{grows[1]}了约 "
            f"{factor:.0e} 倍(每个元素从 {last:.1e} 到 {first:.1e})。",
        ),
        marks=[Mark("related", op=point.first_op) for point in (start, end)],
    )


def _usual(points: list[DepthPoint]) -> float:
    return median(point.flowing.rms for point in points if point.flowing)


CHECK = Check(
    kind="gradient-scale",
    title=Text(en="Gradients vanish or explode over depth", zh="梯度随深度消失或爆炸"),
    advice=Text(
        en="See `trace.gradients.curve()`. Against vanishing: residual connections, normalisation, "
        "ReLU in place of sigmoid, initial weights that keep the scale. Against exploding: "
        "gradient clipping (`grad_clip=`), a smaller learning rate, smaller initial weights. In "
        "float16: loss scaling (`paddle.amp.GradScaler`) or bfloat16.",
        zh="请查看 `trace.gradients.curve()`。梯度消失:使用残差连接、归一化、以 ReLU 代替 sigmoid、"
        "能保持尺度的初始化。梯度爆炸:使用梯度裁剪(`grad_clip=`)、更小的学习率或更小的初始权重。"
        "float16 下请使用损失缩放(`paddle.amp.GradScaler`)或改用 bfloat16。",
    ),
    find=find,
    example="net = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.Sigmoid())] * 40)",
    cost="a look at every gradient: a fifth of a step for large layers, twice for tiny ones",
    needs=("gradients",),
    consequence_of=("nan-origin",),
)
