"""Gradients of the step before were still there at this step.

Backward adds to the gradients that it finds. Where nobody clears them after a step, each step uses
the sum of all gradients so far: training goes astray, often without a sign.

No alarm: several backward calls for one step (gradient accumulation), gradients cleared just before
backward or only in the network that is trained next, and a closure that clears them itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import OPTIMIZER, Facts
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.text import Text


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of steps that used gradients a step before had used."""
    events = facts.record.events
    by_stack: dict[int, list[int]] = {}
    for event in facts.events("stale_gradient"):
        by_stack.setdefault(int(events["stack"][event]), []).append(event)
    for stack, found in by_stack.items():
        place = facts.place_of_stack(stack)
        op = int(events["ops_before"][found[0]])
        is_step = op < facts.op_count and facts.phase(op) == OPTIMIZER
        times, times_zh = (
            (f" This happened at {len(found)} steps.", f"这样的情况出现了 {len(found)} 次。")
            if len(found) > 1
            else ("", "")
        )
        yield Found(
            place=place,
            op=op if is_step else -1,
            severity="warning",
            message=Text(
                en=f"{place.said()} used gradients to which those of the step before still "
                f"belonged: nothing cleared them in between.{times}",
                zh=f"{place.said('zh')} 使用的梯度里还包含上一步的梯度:"
                f"两步之间没有清除。{times_zh}",
            ),
            marks=[Mark("origin", op=op)] if is_step else [],
        )


CHECK = Check(
    kind="gradient-not-cleared",
    title=Text(en="Gradients are not cleared between steps", zh="两步之间没有清除梯度"),
    advice=Text(
        en="Call `optimizer.clear_grad()` after the step, or before backward. To add up the "
        "gradients of several batches on purpose, step once after the last of them, then clear.",
        zh="在 step 之后或 backward 之前调用 `optimizer.clear_grad()`。"
        "如果想累积多个 batch 的梯度,请在最后一个 batch 之后只 step 一次,然后清除。",
    ),
    find=find,
    example="loss.backward()\noptimizer.step()  # and no optimizer.clear_grad()",
    cost="a look at the gradients of three small parameters at each step",
)
