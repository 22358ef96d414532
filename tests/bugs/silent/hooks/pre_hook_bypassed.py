"""A pre-hook normalises the inputs of the encoder; the model calls forward() directly."""

import paddle
from paddle import nn

paddle.seed(0)


class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 16)

    def forward(self, x):
        return nn.functional.relu(self.body(x))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.encoder, self.out = Encoder(), nn.Linear(16, 3)

    def forward(self, x):
        return self.out(self.encoder.forward(x))  # WRONG
        #= return self.out(self.encoder(x))


net = Net()
net.encoder.register_forward_pre_hook(lambda layer, inputs: (inputs[0] / 10,))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    loss = nn.functional.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16]))
    loss.backward()
    opt.step()
    opt.clear_grad()
