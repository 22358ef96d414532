"""The names with which checks are written, from one module."""

from paddle_lab.analysis.findings.check import *  # noqa: F403
from paddle_lab.analysis.findings.facts import *  # noqa: F403
from paddle_lab.analysis.findings.facts.training import *  # noqa: F403
from paddle_lab.analysis.findings.finding import *  # noqa: F403
