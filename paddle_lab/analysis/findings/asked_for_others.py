"""Parameters past which ``paddle.grad`` went, because it was asked for the gradients of others."""

from __future__ import annotations

from paddle_lab.analysis.findings.finding import Found, Mark, Severity
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.findings.text import Text
from paddle_lab.analysis.findings.trained import Trained, listed


def left_aside(trained: Trained, place: Place, parameters: list[int]) -> Found:
    """Return what is said of parameters whose gradients a call was not asked for."""
    return _gone_past(
        trained,
        place,
        parameters,
        severity="warning",
        why=Text(
            en="asks for the gradients of other tensors alone",
            zh="只求了其他张量的梯度",
        ),
        advice=Text(
            en="Ask `paddle.grad` for the gradients of these parameters too, or call "
            "`backward()`, which goes to all of them.",
            zh="请让 `paddle.grad` 也求这些参数的梯度,或调用 `backward()`,它会到达所有参数。",
        ),
    )


def kept_away(trained: Trained, place: Place, parameters: list[int]) -> Found:
    """Return what is said of parameters that ``no_grad_vars`` keeps gradients from."""
    return _gone_past(
        trained,
        place,
        parameters,
        severity="info",
        why=Text(en="keeps it away by `no_grad_vars`", zh="通过 `no_grad_vars` 拦住了梯度"),
        advice=Text(
            en="If these parameters are to rest, leave them out of the optimizer; else leave out "
            "`no_grad_vars`.",
            zh="若这些参数无需训练,请不要把它们交给优化器;否则请去掉 `no_grad_vars`。",
        ),
    )


def _gone_past(
    trained: Trained,
    place: Place,
    parameters: list[int],
    *,
    severity: Severity,
    why: Text,
    advice: Text,
) -> Found:
    names = sorted(trained.name(one) for one in parameters)
    uses = [op for one in parameters for op in trained.used.get(one, ())[:1]]
    return Found(
        place=place,
        op=next(iter(uses), -1),
        severity=severity,
        message=Text(
            en=f"No gradient came to {listed(names)}: {place.said()} {why.en}, and the optimizer "
            "steps without.",
            zh=f"{listed(names, 'zh')} 没有得到梯度:{place.said('zh')} {why.zh},"
            "优化器在没有它们的情况下更新。",
        ),
        advice=advice,
        marks=[Mark("related", op=op) for op in uses[:8]],
    )
