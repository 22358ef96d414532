"""The last layer of a block starts at zero, until the net initialises all its layers again.

source: https://github.com/huggingface/transformers/issues/35141
"""
import paddle
from paddle import nn

paddle.seed(0)


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.up, self.out = nn.Linear(8, 16), nn.Linear(16, 8)
        nn.initializer.Constant(0.0)(self.out.weight)  # WRONG

    def forward(self, x):
        return x + self.out(nn.functional.gelu(self.up(x)))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks, self.head = nn.Sequential(Block(), Block()), nn.Linear(8, 3)
        self.apply(self.init)  # OR
        #+ for block in self.blocks:
        #+     nn.initializer.Constant(0.0)(block.out.weight)

    def init(self, layer):
        if isinstance(layer, nn.Linear):
            nn.initializer.Normal(0.0, 0.02)(layer.weight)  # OR

    def forward(self, x):
        return self.head(self.blocks(x))


net = Net()
opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
for step in range(3):
    loss = nn.functional.cross_entropy(net(paddle.randn([8, 8])), paddle.randint(0, 3, [8]))
    loss.backward()
    opt.step()
    opt.clear_grad()
