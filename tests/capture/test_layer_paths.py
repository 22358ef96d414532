"""The paths of layers are equal to the names in ``named_sublayers``."""

from __future__ import annotations

import paddle

import paddle_lab


class Repeated(paddle.nn.Layer):
    """One layer three times in a list, as with shared blocks."""

    def __init__(self):
        super().__init__()
        self.blocks = paddle.nn.LayerList([paddle.nn.Linear(4, 4)] * 3)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def test_a_layer_listed_several_times_goes_by_its_first_path():
    net = Repeated()
    with paddle_lab.trace() as trace:
        net(paddle.ones([1, 4]))
    layers = [op.layer for op in trace.ops if op.name == "linear"]
    assert layers == [path for path, _ in net.named_sublayers() if path != "blocks"] * 3
    weights = {tensor.path for op in trace.ops for tensor in op.inputs if tensor.path}
    assert weights == {path for path, _ in net.named_parameters()}


def test_layers_of_two_models_with_equal_paths_are_told_apart():
    actor, critic = (paddle.nn.Sequential(paddle.nn.Linear(2, 2)) for _ in range(2))
    with paddle_lab.trace() as trace:
        critic(actor(paddle.ones([1, 2])))
    assert [op.layer for op in trace.ops][1:] == ["actor.0", "critic.0"]
    assert trace.ops.to_pandas()["layer"].tolist()[1:] == ["actor.0", "critic.0"]
