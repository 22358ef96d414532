"""Models whose cost is known from other tools or papers, each with the shape of its input."""

from __future__ import annotations

from collections.abc import Callable

import paddle
from paddle import Tensor, nn
from paddle.nn import functional
from paddle.vision import models as vision


class Transformer(nn.Layer):
    """A Transformer as in BERT, GPT-2 and ViT: embeddings, blocks, a head."""

    def __init__(
        self, *, width: int, heads: int, depth: int, words: int, length: int, causal: bool = False
    ) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.0, activation="gelu", normalize_before=causal
        )
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks, self.norm = nn.TransformerEncoder(layer, depth), nn.LayerNorm(width)
        self.causal = causal

    def forward(self, ids: Tensor) -> Tensor:
        length = ids.shape[1]
        x = self.words(ids) + self.places(paddle.arange(length))
        if not self.causal:
            return self.blocks(self.norm(x))
        mask = paddle.triu(paddle.full([length, length], -1e4), 1)
        x = self.norm(self.blocks(x, mask))
        return functional.linear(x, self.words.weight.t())  # shares the embedding


class BERT(Transformer):
    """BERT-base with its pooler (Devlin et al., 2019)."""

    def __init__(self, *, width: int, **sizes: int) -> None:
        super().__init__(width=width, **sizes)
        self.types, self.pooler = nn.Embedding(2, width), nn.Linear(width, width)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids) + self.places(paddle.arange(ids.shape[1]))
        x = self.blocks(self.norm(x + self.types(paddle.zeros_like(ids))))
        return functional.tanh(self.pooler(x[:, 0]))


class ViT(nn.Layer):
    """A vision Transformer (Dosovitskiy et al., 2021)."""

    def __init__(self, *, size: int, patch: int, width: int, heads: int, depth: int) -> None:
        super().__init__()
        self.patches = nn.Conv2D(3, width, patch, patch)
        self.token = self.create_parameter([1, 1, width])
        self.places = self.create_parameter([1, (size // patch) ** 2 + 1, width])
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.0, activation="gelu", normalize_before=True
        )
        self.blocks, self.norm = nn.TransformerEncoder(layer, depth), nn.LayerNorm(width)
        self.head = nn.Linear(width, 1000)

    def forward(self, image: Tensor) -> Tensor:
        x = self.patches(image).flatten(2).transpose([0, 2, 1])
        x = paddle.concat([self.token.expand([x.shape[0], -1, -1]), x], 1) + self.places
        return self.head(self.norm(self.blocks(x))[:, 0])


class Decoder(nn.Layer):
    """A Transformer's decoder that attends to what it reads."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.TransformerDecoder(nn.TransformerDecoderLayer(32, 4, 64), 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.blocks(x, x)


class Recurrent(nn.Layer):
    """A recurrent network with a head."""

    def __init__(self, network: nn.Layer, width: int) -> None:
        super().__init__()
        self.network, self.head = network, nn.Linear(width, 7)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.network(x)[0])


class UNet(nn.Layer):
    """One level of a U-Net."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.deep = nn.Conv2D(3, 8, 3, padding=1), nn.Conv2D(8, 16, 3, padding=1)
        self.pool, self.up = nn.MaxPool2D(2), nn.Conv2DTranspose(16, 8, 2, stride=2)
        self.out = nn.Conv2D(16, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.relu(self.down(x))
        deep = functional.relu(self.deep(self.pool(x)))
        return self.out(paddle.concat([x, self.up(deep)], 1))


def generator() -> nn.Layer:
    """Return the generator of a DCGAN."""
    return nn.Sequential(
        nn.Linear(16, 256), nn.Unflatten(1, [16, 4, 4]), nn.BatchNorm2D(16), nn.ReLU(),
        nn.Conv2DTranspose(16, 8, 4, 2, 1), nn.BatchNorm2D(8), nn.LeakyReLU(),
        nn.Conv2DTranspose(8, 3, 4, 2, 1), nn.Tanh(),
    )  # fmt: skip


def waves() -> nn.Layer:
    """Return a network over signals."""
    return nn.Sequential(
        nn.Conv1D(2, 8, 5, padding=2), nn.BatchNorm1D(8), nn.ReLU(), nn.AvgPool1D(2),
        nn.Conv1D(8, 8, 3, groups=8), nn.Flatten(), nn.Linear(8 * 14, 4),
    )  # fmt: skip


def volumes() -> nn.Layer:
    """Return a network over volumes."""
    return nn.Sequential(
        nn.Conv3D(1, 4, 3), nn.BatchNorm3D(4), nn.ReLU(), nn.MaxPool3D(2), nn.Flatten(),
        nn.Linear(4 * 27, 3),
    )  # fmt: skip


_SMALL, _FULL = [1, 3, 64, 64], [1, 3, 224, 224]
_SEQUENCE = [2, 6, 8]
_VISION = (
    "resnet18 resnet34 resnet50 resnext50_32x4d vgg11 mobilenet_v1 "
    "mobilenet_v2 mobilenet_v3_small densenet121 shufflenet_v2_x1_0 squeezenet1_0"
)

MODELS: dict[str, tuple[Callable[[], nn.Layer], list[int]]] = {
    **{
        name: (getattr(vision, name), _SMALL)
        for name in _VISION.split()
    },
    "alexnet": (vision.alexnet, _FULL),
    "googlenet": (vision.googlenet, _FULL),
    "inception_v3": (vision.inception_v3, [1, 3, 107, 107]),
    "lenet": (vision.LeNet, [1, 1, 28, 28]),
    "encoder": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64), 2), [2, 5, 32]
    ),
    "decoder": (Decoder, [2, 5, 32]),
    "vit": (lambda: ViT(size=32, patch=8, width=32, heads=4, depth=2), [1, 3, 32, 32]),
    "lstm": (lambda: Recurrent(nn.LSTM(8, 16, 2), 16), _SEQUENCE),
    "gru": (lambda: Recurrent(nn.GRU(8, 16, direction="bidirect"), 32), _SEQUENCE),
    "rnn": (lambda: Recurrent(nn.SimpleRNN(8, 16), 16), _SEQUENCE),
    "unet": (UNet, [1, 3, 32, 32]),
    "generator": (generator, [2, 16]),
    "waves": (waves, [2, 2, 32]),
    "volumes": (volumes, [1, 1, 8, 8, 8]),
}  # fmt: skip


def trainable(network: nn.Layer) -> int:
    """Return the number of parameters of a model, running statistics left out."""
    statistics = ("._mean", "._variance")
    return sum(
        int(parameter.size)
        for name, parameter in network.named_parameters()
        if not f".{name}".endswith(statistics)
    )
