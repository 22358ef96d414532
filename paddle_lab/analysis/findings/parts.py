"""The names with which most checks are written, from one module."""

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import EXTERNAL, FORWARD, PARAMETER, Facts, walk
from paddle_lab.analysis.findings.facts.training import (
    AFFINE,
    LOSSES,
    PASSING,
    Called,
    Step,
    Training,
)
from paddle_lab.analysis.findings.finding import Found, Mark, Place, warning

__all__ = ("AFFINE", "EXTERNAL", "FORWARD", "LOSSES", "PARAMETER", "PASSING", "Called", "Check",
           "Facts", "Found", "Mark", "Place", "Step", "Training", "walk", "warning")  # fmt: skip
