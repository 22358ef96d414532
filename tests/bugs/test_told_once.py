"""An error and its cause give one finding, the cause; the failed grad node is marked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bugs.bug_file import run_bug

CELLS = Path(__file__).parent / "cells"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("inplace_gate", "inplace-modified"),
        ("inplace_weights_between", "inplace-modified"),
        ("kept_hidden_state", "graph-kept"),
        ("pylayer_too_many_gradients", "pylayer-argument"),
        ("backward_twice", "backward-failed"),
    ],
)
def test_one_error(name: str, kind: str) -> None:
    trace, raised = run_bug(CELLS / f"{name}.py")
    assert raised is not None
    (told,) = [finding for finding in trace.findings if finding.severity == "error"]
    assert told.kind == kind
    assert any(mark.role == "failed" and mark.grad_node >= 0 for mark in told.marks)
