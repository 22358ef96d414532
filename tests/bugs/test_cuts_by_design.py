"""A ``no_grad`` inside one of Paddle's layers, or of a running average, is no cut."""

from __future__ import annotations

import paddle
import pytest
from paddle import nn
from paddle.nn import functional as F

import paddle_lab


def cuts(work) -> list[tuple[str, str]]:
    """Return the severity and the message of each finding about cut gradients."""
    with paddle_lab.trace(check="gradient-cut") as trace:
        work()
    return [(one.severity, one.message) for one in trace.findings]


def test_the_estimates_of_a_spectral_norm() -> None:
    def made_and_used() -> None:
        critic = nn.utils.spectral_norm(nn.Linear(16, 8))
        critic(paddle.randn([4, 16])).mean().backward()

    assert cuts(made_and_used) == []


def test_a_parameter_that_is_gone_has_no_path_of_a_later_one() -> None:
    with paddle_lab.trace() as trace:
        for _ in range(100):
            gone = paddle.create_parameter([3], "float32")
            (gone * 2).sum()
            name, identity = gone.name, id(gone)
            del gone
            layer = nn.Linear(3, 3)
            if identity in map(id, layer.parameters()):
                break
        else:
            pytest.skip("no id was given twice")
        layer(paddle.ones([2, 3]))
    record = trace.record
    names, paths = ([record.text(one) for one in record.tensors[key]] for key in ("name", "path"))
    paths_of = dict(zip(names, paths, strict=True))
    assert paths_of[layer.weight.name] == "weight"
    assert paths_of[name] == ""


def test_the_line_that_detaches_and_not_the_norm_before_it() -> None:
    critic, head = nn.utils.spectral_norm(nn.Linear(16, 8)), nn.Linear(8, 1)
    ((_, message),) = cuts(lambda: head(critic(paddle.randn([4, 16])).detach()).mean().backward())
    assert "detaches its values" in message


def test_the_line_that_detaches_and_not_the_average_of_the_weights() -> None:
    student, teacher, head = (nn.Linear(8, 8) for _ in range(3))

    def step() -> None:
        with paddle.no_grad():
            for own, other in zip(student.parameters(), teacher.parameters(), strict=True):
                paddle.assign(0.9 * other + 0.1 * own, other)
        x = paddle.randn([4, 8])
        F.mse_loss(head(student(x).detach()), teacher(x)).backward()

    ((_, message),) = cuts(step)
    assert "detaches its values" in message
