"""The cells that `first_picture.py` traces: straight code, loops, an encoder, GPTs of any depth."""

from __future__ import annotations

from dataclasses import dataclass

STRAIGHT = """
def straight(count):
    lines = ["x = paddle.tanh(x)", "x = x + 1.0"]
    body = "".join(f"    {{lines[i % 2]}}\\n" for i in range(count))
    with open(f"straight_{{count}}.py", "w") as file:
        file.write(f"import paddle\\n\\ndef chain(x):\\n{{body}}    return x\\n")
    return importlib.import_module(f"straight_{{count}}").chain

chain = straight({count})
x = paddle.rand([4])
"""
ENCODER = """
network = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64), {layers})
optimizer = paddle.optimizer.AdamW(parameters=network.parameters())
x = paddle.rand([2, 8, 32])
network(x).mean().backward()
optimizer.step()
optimizer.clear_grad()
"""
GPT = """
class Block(nn.Layer):
    def __init__(self, width, heads, mask):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads, self.mask = heads, mask

    def forward(self, x):
        batch, time, width = x.shape
        shape = [batch, time, 3, self.heads, width // self.heads]
        q, k, v = self.qkv(self.norm1(x)).reshape(shape).transpose([2, 0, 3, 1, 4]).unbind(0)
        scores = (q @ k.transpose([0, 1, 3, 2])) * ((width // self.heads) ** -0.5)
        weights = nn.functional.softmax(scores + self.mask, -1)
        y = (weights @ v).transpose([0, 2, 1, 3]).reshape([batch, time, width])
        x = x + self.projection(y)
        return x + self.narrow(nn.functional.gelu(self.wide(self.norm2(x))))

class Stage(nn.Layer):
    def __init__(self, blocks, *options):
        super().__init__()
        self.blocks = nn.LayerList([Block(*options) for _ in range(blocks)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

class GPT(nn.Layer):
    def __init__(self, stages, blocks, width=8, heads=2, words=100, time=4):
        super().__init__()
        mask = paddle.triu(paddle.full([time, time], -1e4), 1)
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(time, width)
        self.stages = nn.LayerList([Stage(blocks, width, heads, mask) for _ in range(stages)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, ids):
        x = self.words(ids) + self.places(paddle.arange(ids.shape[1]))
        for stage in self.stages:
            x = stage(x)
        return self.head(self.norm(x))

network = GPT({stages}, {blocks})
ids = paddle.randint(0, 100, [1, 4])
network(ids).mean().backward()
network.clear_gradients()
"""
TRAINING = """
layers = [layer for _ in range(15) for layer in (nn.Linear(32, 32), nn.ReLU())]
network = nn.Sequential(*layers)
optimizer = paddle.optimizer.SGD(parameters=network.parameters())
x = paddle.rand([4, 32])

def train(steps):
    for _ in range(steps):
        network(x).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
PROGRAM = """
def transformer(x, blocks):
    # Without layers, the program has no groups.
    F = nn.functional
    for _ in range(blocks):
        q, k, v = (F.layer_norm(x, [16]) @ wide).reshape([6, 3, 2, 8]).transpose([1, 2, 0, 3])
        weights = F.softmax(paddle.matmul(q, k, transpose_y=True) * 0.35, -1)
        x = x + (weights @ v).transpose([1, 0, 2]).reshape([6, 16]) @ narrow
        x = x + F.gelu(F.layer_norm(x, [16]) @ narrow)
    return x

import paddle_lab
wide, narrow = paddle.rand([16, 48]), paddle.rand([16, 16])
with paddle_lab.trace() as recorded:
    transformer(paddle.rand([6, 16]), {blocks})
recorded.to_netron("transformer.json")
"""
HUB = "hub = paddle.rand([4])"
STEP = "loss = network(x).mean()\nloss.backward()\noptimizer.step()\noptimizer.clear_grad()"
FORWARD_BACKWARD = "network(ids).mean().backward()"
CONSUMERS = "y = [hub.exp() for _ in range({count})]"
LOOP = "y = x\nfor _ in range({turns}):\n    y = paddle.tanh(y) + 1.0"


@dataclass(frozen=True)
class Subject:
    """A cell to trace, and the code that prepares it."""

    title: str
    prepare: str
    cell: str
    bar_s: float | None = None
    """The most time from the cell's end to the first picture."""
    magic: str = "%%paddle_trace"
    show: str = ""
    """What the cell shows once its end is noted, if no magic shows it."""


def straight(count: int, *, bar_s: float | None = None) -> Subject:
    """Return a chain of ops, each on its own line."""
    prepare = STRAIGHT.format(count=count)
    return Subject(f"{count:,} straight lines", prepare, "y = chain(x)", bar_s)


def loop(count: int) -> Subject:
    """Return a chain of ops in a loop."""
    return Subject(f"{count:,} in a loop", "x = paddle.rand([4])", LOOP.format(turns=count // 2))


SUBJECTS = {
    "encoder": Subject("TransformerEncoder, 24 layers, a step", ENCODER.format(layers=24), STEP),
    "gpt-96": Subject(
        "GPT, 96 blocks, forward and backward",
        GPT.format(stages=1, blocks=96),
        FORWARD_BACKWARD,
    ),
    "gpt-50000": Subject(
        "GPT, 9 × 96 blocks, forward and backward",
        GPT.format(stages=9, blocks=96),
        FORWARD_BACKWARD,
        bar_s=0.8,
    ),
    "hub-10000": Subject(
        "10,000 consumers of a tensor", HUB, CONSUMERS.format(count=10_000), bar_s=1.0
    ),
    "program-10000": Subject(
        "a saved program of 10,000 ops",
        PROGRAM.format(blocks=530),
        '_trace = paddle_lab.program("transformer.json")',
        bar_s=0.5,
        magic="",
        show="_trace",
    ),
    "straight-1000": straight(1_000),
    "loop-1000": loop(1_000),
    "straight-5000": straight(5_000, bar_s=0.3),
    "loop-5000": loop(5_000),
    "straight-20000": straight(20_000, bar_s=0.8),
    "loop-20000": loop(20_000),
    "straight-100000": straight(100_000, bar_s=3.0),
    "loop-100000": loop(100_000),
    "training-180000": Subject("180,000 ops of a training", TRAINING, "train(2950)", bar_s=2.5),
    "training-180000-memory": Subject(
        "180,000 ops of a training, with memory", TRAINING, "train(2950)", 4.0, "%%paddle_mem"
    ),
}
