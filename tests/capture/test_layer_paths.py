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


class ModeOfAProperty(paddle.nn.Layer):
    """Its mode is computed, and the attribute of the same name in its dictionary is another."""

    def forward(self, x):
        return x + 1

    @property
    def training(self):
        return self.__dict__.get("is_on", True)

    @training.setter
    def training(self, is_on):
        self.__dict__["training"] = not is_on
        self.__dict__["is_on"] = is_on


class ModeOfAnotherLayer(paddle.nn.Layer):
    """It has no mode of its own, but tells that of another layer."""

    def __init__(self):
        super().__init__()
        del self.training

    def forward(self, x):
        return x + 1

    def __getattr__(self, name):
        return False if name == "training" else super().__getattr__(name)


def test_calls_in_eval_mode_are_noted_wherever_a_layer_keeps_its_mode():
    plain = paddle.nn.ReLU()
    plain.eval()
    computed = ModeOfAProperty()
    computed.eval()
    with paddle_lab.trace() as trace:
        for layer in (paddle.nn.ReLU(), plain, ModeOfAProperty(), computed, ModeOfAnotherLayer()):
            layer(paddle.ones([2]))
    scopes = trace.record.eval_scopes["scope"].tolist()
    layers = trace.record.scopes["layer"][scopes].tolist()
    assert layers == [1, 3, 4]
