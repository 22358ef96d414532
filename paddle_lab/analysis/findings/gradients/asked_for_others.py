"""Parameters past which ``paddle.grad`` went, because it was asked for the gradients of others."""

from __future__ import annotations

from paddle_lab.analysis.findings.finding import Found, Mark, Severity
from paddle_lab.analysis.findings.gradients.trained import Trained, listed
from paddle_lab.analysis.findings.place import Place
from paddle_lab.words import Text


def left_aside(trained: Trained, place: Place, parameters: list[int]) -> Found:
    """Return what is said of parameters whose gradients a call was not asked for."""
    return _gone_past(
        trained,
        place,
        parameters,
        severity="warning",
        why=Text("findings.asked-for-others.left_aside_why"),
        advice=Text("findings.asked-for-others.left_aside_advice"),
    )


def kept_away(trained: Trained, place: Place, parameters: list[int]) -> Found:
    """Return what is said of parameters that ``no_grad_vars`` keeps gradients from."""
    return _gone_past(
        trained,
        place,
        parameters,
        severity="info",
        why=Text("findings.asked-for-others.kept_away_why"),
        advice=Text("findings.asked-for-others.kept_away_advice"),
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
            "findings.asked-for-others.gone_past", names=listed(names), place=place, why=why
        ),
        advice=advice,
        marks=[Mark("related", op=op) for op in uses[:8]],
    )
