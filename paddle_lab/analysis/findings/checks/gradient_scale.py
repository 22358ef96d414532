"""Gradients vanished or exploded on their way through the layers.

If each layer makes gradients a little smaller (saturated sigmoids, weights that are too small), the
first layers of a deep network get almost none and do not learn. If each layer makes them larger,
steps overshoot until numbers overflow. The check compares the gradient per value at the first
layers with the one at the last layers.

This is information, not an alarm: networks with strong normalisation train with gradients of very
different sizes. It is an alarm if a gradient became exactly zero after it was tiny, or infinite
after it was huge. A gradient that is zero for another reason (a dead ReLU, weights that start at
zero) is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Mark, found
from paddle_lab.analysis.gradients.curve import DepthPoint, GradientCurve
from paddle_lab.analysis.gradients.gradients import Gradient, GradientTable

_FEWEST_LAYERS = 6
_STRIKING = 1e4
# Magnitudes that no healthy gradient has: almost zero, or almost infinite.
_TINY = {"float16": 1e-6, "float64": 1e-150, "complex128": 1e-150}
_HUGE = {"float16": 1e4, "float64": 1e150, "complex128": 1e150}
_USUAL_TINY, _USUAL_HUGE = 1e-25, 1e25


def find(facts: Facts) -> Iterator[Found]:
    """Yield for each backward call a vanished or overflowed gradient, else a change of scale."""
    of_call: dict[int, list[Gradient]] = {}
    for row in GradientTable(facts.record):
        of_call.setdefault(row.backward_call, []).append(row)
    said: set[tuple[str, int]] = set()
    for call in sorted(of_call):
        found = _extreme(facts, of_call[call]) or _drift(facts, call)
        if found is not None and (found.place.file, found.place.line) not in said:
            said.add((found.place.file, found.place.line))
            yield found


def _extreme(facts: Facts, rows: list[Gradient]) -> Found | None:
    """Find the first gradient that became zero or infinite because it was out of range."""
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
            op = row.op.key if row.op else -1
            return found(
                f"gradient-scale.{'overflowed' if overflowed else 'vanished'}",
                facts.place(op),
                op,
                grad_node=row.source_node,
                magnitude=f"{magnitude:.1e}",
                dtype=row.dtype,
            )
    return None


def _drift(facts: Facts, call: int) -> Found | None:
    """Compare the gradients of the first layers with the gradients of the last layers."""
    # Ops outside of layers do not count: even a mean divides gradients by the number of values.
    curve = GradientCurve.of(facts.record, call)
    layers = [point for point in curve if point.layer_class]
    points = [point for point in layers if point.flowing and point.flowing.rms > 0]
    if len(points) < _FEWEST_LAYERS:
        return None
    third = len(points) // 3
    first, last = (_usual(part) for part in (points[:third], points[-third:]))
    ratio = first / last
    if 1 / _STRIKING < ratio < _STRIKING:
        return None
    start, end = points[-1], points[0]
    return found(
        f"gradient-scale.{'shrinks' if ratio < 1 else 'grows'}",
        facts.place(end.first_op),
        end.first_op,
        severity="info",
        marks=[Mark("related", point.first_op) for point in (start, end)],
        start=start.label,
        end=end.label,
        n=len(points),
        factor=f"{max(ratio, 1 / ratio):.0e}",
        last=f"{last:.1e}",
        first=f"{first:.1e}",
    )


def _usual(points: list[DepthPoint]) -> float:
    return median(point.flowing.rms for point in points if point.flowing)


CHECK = Check(
    find=find,
    example="net = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.Sigmoid())] * 40)",
    needs=("gradients",),
    consequence_of=("nan-origin",),
)
