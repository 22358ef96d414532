"""Models with everything that a program can contain: layers, branches, loops, lists of tensors."""

from __future__ import annotations

from collections.abc import Callable

import paddle
from paddle import Tensor, nn
from paddle.nn import functional
from paddle.vision import models as vision


class Block(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
        self.other = nn.Linear(8, 8)

    def forward(self, x):
        x = x + self.down(functional.gelu(self.up(self.norm(x))))
        if x.sum() > 0:
            x = x * 2
        else:
            x = functional.relu(x)
            x = self.other(x)  # its weight gets a gradient of zeros in the other branch
        first, second = paddle.split(x, 2, axis=1)
        return paddle.concat([second, first], axis=1)


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.LayerList([Block(), Block()])
        self.head = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        count = paddle.zeros([1], "int64")
        while count < 3:
            x = functional.tanh(x)
            count = count + 1
        return self.head(x)


class Recurrent(nn.Layer):
    def __init__(self, kind: type[nn.Layer]) -> None:
        super().__init__()
        self.steps, self.head = kind(8, 16), nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.steps(x)[0][:, -1])


class Language(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0)
        self.encoder, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(16, 50)

    def forward(self, ids):
        return self.head(self.encoder(self.words(ids)))


def _autoencoder() -> nn.Layer:
    encoder = nn.Conv2D(3, 4, 3, stride=2, padding=1)
    return nn.Sequential(encoder, nn.ReLU(), nn.Conv2DTranspose(4, 3, 4, stride=2, padding=1))


def _images(size: int = 64, channels: int = 3) -> Tensor:
    return paddle.randn([2, channels, size, size])


MODELS: dict[str, tuple[Callable[[], nn.Layer], Callable[[], Tensor]]] = {
    "block": (Block, lambda: paddle.randn([4, 8])),
    "lenet": (vision.LeNet, lambda: _images(28, 1)),
    "resnet18": (vision.resnet18, _images),
    "mobilenet_v2": (lambda: vision.mobilenet_v2(scale=0.25), _images),
    "mobilenet_v3": (lambda: vision.mobilenet_v3_small(scale=0.5), _images),
    "squeezenet": (vision.squeezenet1_1, _images),
    "shufflenet": (vision.shufflenet_v2_x0_25, _images),
    "densenet": (vision.densenet121, _images),
    "lstm": (lambda: Recurrent(nn.LSTM), lambda: paddle.randn([2, 5, 8])),
    "gru": (lambda: Recurrent(nn.GRU), lambda: paddle.randn([2, 5, 8])),
    "autoencoder": (_autoencoder, lambda: _images(16)),
    "language": (Language, lambda: paddle.randint(0, 50, [2, 7])),
}
"""Layers and their inputs, by name."""


def saved(folder, layer=None):
    """Save a model as ``paddle.jit.save`` does, and return the path without its ending."""
    layer = layer or Net()
    layer.eval()
    prefix = folder / "model"
    spec = [paddle.static.InputSpec([None, 8], "float32", "x")]
    paddle.jit.save(layer, str(prefix), input_spec=spec)
    return prefix
