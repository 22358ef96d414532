"""Each class of the model initialises all weights below it: three times, and only the last counts.

source: TrainCheck transformers-17877, https://github.com/huggingface/transformers/pull/17877
"""

import math

import paddle
from paddle import nn

paddle.seed(0)


class Base(nn.Layer):
    def post_init(self):
        self.apply(self.init)

    def init(self, layer):
        if isinstance(layer, nn.Linear):
            nn.initializer.Normal(0.0, 0.02)(layer.weight)  # OR
        for name, parameter in layer.named_parameters():
            if name.endswith("out.weight"):
                nn.initializer.Normal(0.0, 0.02 / math.sqrt(4))(parameter)  # OR


class Block(Base):
    def __init__(self):
        super().__init__()
        self.up, self.out = nn.Linear(8, 16), nn.Linear(16, 8)
        self.post_init()  # WRONG

    def forward(self, x):
        return x + self.out(nn.functional.gelu(self.up(x)))


class Decoder(Base):
    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([Block() for _ in range(2)])
        self.post_init()  # WRONG

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Model(Base):
    def __init__(self):
        super().__init__()
        self.decoder, self.head = Decoder(), nn.Linear(8, 3)
        self.post_init()  # OR

    def forward(self, x):
        return self.head(self.decoder(x))


net = Model()
opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
for step in range(3):
    loss = nn.functional.cross_entropy(net(paddle.randn([8, 8])), paddle.randint(0, 3, [8]))
    loss.backward()
    opt.step()
    opt.clear_grad()
