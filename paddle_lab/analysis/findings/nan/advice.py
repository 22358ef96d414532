"""What helps against NaN and Inf, by how they came about."""

from __future__ import annotations

from paddle_lab.words import Text

LOG_ADVICE = Text("findings.nan.advice.log")
DIVIDE_ADVICE = Text("findings.nan.advice.divide")
ROOT_ADVICE = Text("findings.nan.advice.root")
DOMAIN_ADVICE = Text("findings.nan.advice.domain")
OVERFLOW_ADVICE = Text("findings.nan.advice.overflow")
HALF_ADVICE = Text("findings.nan.advice.half")
SOFTMAX_ADVICE = Text("findings.nan.advice.softmax")
EMPTY_ADVICE = Text("findings.nan.advice.empty")
