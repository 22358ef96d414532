"""How many bytes ``graph-kept`` reports."""

from __future__ import annotations

import pytest

from tests.bugs.bug_file import run_bug

LOOP = """
import paddle
from paddle import nn
paddle.seed(4)
net = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 2))
optimizer = paddle.optimizer.SGD(0.05, parameters=net.parameters())
inputs, targets = paddle.randn([32, 6]), paddle.randn([32, 2])
kept = []
for step in range(7):
    loss = nn.functional.mse_loss(net(inputs), targets)
    loss.backward(retain_graph={retain})
    optimizer.step()
    optimizer.clear_grad()
{keep}
"""


def told(tmp_path, *keep: str, retain: bool = True) -> list[tuple[str, str]]:
    """Return severities and messages of the finding, for a loop that ends its steps with lines."""
    path = tmp_path / "loop.py"
    lines = "\n".join(f"    {line}" for line in keep)
    path.write_text(LOOP.format(keep=lines, retain=retain), encoding="utf-8")
    trace, raised = run_bug(path)
    assert raised is None, raised
    return [(one.severity, one.message) for one in trace.findings if one.kind == "graph-kept"]


def test_a_best_loss_is_one_at_a_time_and_a_hint(tmp_path) -> None:
    ((severity, message),) = told(tmp_path, "kept = [min([*kept, loss])]")
    assert severity == "info"
    assert "kept into later steps (`kept = [min([*kept, loss])]`" in message
    assert "one at a time" in message


@pytest.mark.parametrize(("size", "count"), [(2, 3), (3, 4)])
def test_a_queue_keeps_as_many_as_it_holds_and_the_newest(tmp_path, size: int, count: int) -> None:
    lines = f"kept = [*kept, loss][-{size}:]", "mean = float(paddle.stack(kept).mean())"
    ((severity, message),) = told(tmp_path, *lines)
    assert severity == "warning"
    assert f"made in {count} different steps are kept at once" in message


def test_a_list_keeps_them_all(tmp_path) -> None:
    ((severity, message),) = told(tmp_path, "kept.append(loss)")
    assert severity == "warning"
    assert "made in 7 different steps are kept at once" in message
    # The tensors that the tanh, the last layer and the loss saved in all steps that were over.
    assert "49.5 KiB saved for backward in all" in message


@pytest.mark.parametrize(
    "keep", ["kept.append(loss)", "kept = [min([*kept, loss])]", "kept = [sum([*kept, loss])]"]
)
def test_nothing_is_said_where_backward_freed_what_was_saved(tmp_path, keep: str) -> None:
    assert told(tmp_path, keep)
    assert told(tmp_path, keep, retain=False) == []
