"""Reading weights, even copied ones, is no call of a model; a model without layers is one."""

from __future__ import annotations

import paddle
import pytest
from paddle import nn

import paddle_lab


def alarms(net: nn.Layer, look) -> list[str]:
    parameters = net.parameters()
    with paddle_lab.trace(check="unused-graph") as trace:
        for parameter in parameters:
            look(parameter)
    return [finding.kind for finding in trace.findings if finding.severity != "info"]


def test_a_distance_from_copies_of_an_earlier_cell() -> None:
    net = nn.Linear(3, 2)
    then = {one.name: one.clone() for one in net.parameters()}
    assert not alarms(net, lambda now: float((now - then[now.name]).norm()))
    assert not alarms(net, lambda now: float((now - then[now.name].detach()).abs().max()))


@pytest.mark.parametrize("data", [paddle.ones([3, 2]), paddle.ones([2])])
def test_a_model_of_bare_weights_is_one(data: paddle.Tensor) -> None:
    assert alarms(nn.Linear(3, 2), lambda weight: float((weight * data).sum())) == ["unused-graph"]
