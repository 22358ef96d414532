"""The formulas of ops by op name, and the formulas of grad nodes by the name of their op."""

from __future__ import annotations

from typing import Final

from paddle_lab.analysis.cost.formulas import (
    contractions,
    elementwise,
    layers,
    movement,
    normalisations,
    optimizers,
    pooling,
    reductions,
)
from paddle_lab.analysis.cost.formulas.formula import Formula, GradFormula

_FAMILIES = (
    contractions,
    elementwise,
    layers,
    movement,
    normalisations,
    optimizers,
    pooling,
    reductions,
)

FORWARD: Final[dict[str, Formula]] = {
    name: formula for family in _FAMILIES for name, formula in family.FORWARD.items()
}
BACKWARD: Final[dict[str, GradFormula]] = {
    name: formula for family in _FAMILIES for name, formula in family.BACKWARD.items()
}
