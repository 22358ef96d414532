"""The layers in ``trace.summary()``, compared with ``paddle.summary`` and Paddle's shapes."""

from __future__ import annotations

import re

import paddle
import pytest
from paddle.vision.models import LeNet, mobilenet_v2, resnet18

import paddle_lab
from paddle_lab.words import say


@pytest.mark.parametrize(
    ("make", "shape"),
    [(LeNet, (2, 1, 28, 28)), (resnet18, (1, 3, 64, 64)), (mobilenet_v2, (1, 3, 64, 64))],
)
def test_parameters_and_shapes_are_those_of_the_model(make, shape, capsys):
    net = make()
    net.eval()
    shapes = {}
    for name, layer in net.named_sublayers():
        layer.register_forward_post_hook(
            lambda _layer, _inputs, output, name=name: shapes.update(
                {name: str(list(output.shape))}
            )
        )
    with paddle_lab.trace() as trace, paddle.no_grad():
        net(paddle.randn(shape))
    capsys.readouterr()
    text = trace.summary()
    trained = sum(each.size for each in net.parameters() if not each.stop_gradient)
    total = paddle.summary(net, shape)["total_params"]
    statistics = sum(each.size for each in net.parameters() if each.stop_gradient)
    assert f"{trained:,} parameters in layers" in text
    assert trained + statistics == total
    lines = text.splitlines()
    table = lines[lines.index(say("reports.summary.title")) + 2 :]
    rows = [re.split(r" {2,}", line.strip()) for line in table if re.match(r"  \w", line)]
    found = {row[0]: row[3] for row in rows if len(row) == 8 and row[0] in shapes}
    assert len(found) > 5
    assert found == {name: shapes[name] for name in found}
