"""Healthy training steps of real models have no finding of severity warning or error."""

from __future__ import annotations

import pytest

import paddle_lab
from tests.models import MODELS, STATIC_MODELS, Build

_STEPS = 2


@pytest.mark.parametrize(
    "build", [*MODELS.values(), *STATIC_MODELS.values()], ids=[*MODELS, *STATIC_MODELS]
)
def test_training_steps_raise_no_alarm(build: Build) -> None:
    with paddle_lab.trace(check="all") as trace:
        step = build()
        for _ in range(_STEPS):
            step()
    alarms = [finding for finding in trace.findings if finding.severity != "info"]
    assert not alarms, "\n".join(map(str, alarms))
