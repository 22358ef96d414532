"""Findings name the holder of tensors, and the line that stored them there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paddle_lab.analysis.findings.finding import Finding

LOOP = """
import paddle, paddle_lab
from paddle import nn
net = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 2))
optimizer = paddle.optimizer.SGD(0.05, parameters=net.parameters())

class Trainer:
    def __init__(self):
        self.seen = []

    def keep(self, value):
        self.seen.append(value)

def run():
    {held}
    with paddle_lab.trace() as trace:
        for step in range(5):
            net(paddle.randn([32, 6])).mean().backward()
            optimizer.step()
            optimizer.clear_grad()
            {keep}
    return trace

log, trainer = {{"loss": []}}, Trainer()
findings = list(run().findings)
"""
LOSS = "net(paddle.randn([32, 6])).square().mean()"


def findings(tmp_path: Path, keep: str, held: str = "pass") -> list[Finding]:
    path = tmp_path / "loop.py"
    path.write_text(LOOP.format(keep=keep, held=held), encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": "loop"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), namespace)
    found: list[Finding] = namespace["findings"]
    return found


@pytest.mark.parametrize(
    ("keep", "held", "told"),
    [
        (f"loss = {LOSS}; log['loss'].append(loss)", "pass", "`log['loss']` holds them"),
        (f"loss = {LOSS}; kept.append(loss)", "kept = []", "`kept` holds them"),
        (f"loss = {LOSS}; kept[step] = loss", "kept = {}", "`kept` holds them"),
    ],
)
def test_the_holder_and_the_line(tmp_path: Path, keep: str, held: str, told: str) -> None:
    (found,) = findings(tmp_path, keep, held)
    assert found.kind == "graph-kept"
    put = keep.partition("; ")[2]
    assert f"{told}: `{put}` (loop.py:21) puts them there." in found.message


def test_an_object_that_holds_them(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, f"trainer.keep({LOSS})")
    told = "`self.seen` holds them: `self.seen.append(value)` (loop.py:12) puts them there."
    assert told in found.message


def test_no_line_where_two_may_have_done_it(tmp_path: Path) -> None:
    keep = f"log['loss'].append({LOSS})"
    (found,) = findings(tmp_path, f"{keep}\n    log['loss'].append(0)")
    assert found.message.endswith("`log['loss']` holds them.")


def test_a_variable_in_plain_sight_is_a_hint(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, "log['loss'].append(net(paddle.randn([512, 6])).detach())")
    assert (found.kind, found.severity) == ("leaked-tensor", "info")
    (found,) = findings(tmp_path, "trainer.keep(net(paddle.randn([512, 6])).detach())")
    assert (found.kind, found.severity) == ("leaked-tensor", "warning")
