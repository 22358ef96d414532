"""A hook computes noisy inputs and does not return them."""
import paddle
import paddle.nn as nn


class AE(nn.Layer):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(40, 20), nn.ReLU(), nn.Linear(20, 4))
        self.dec = nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Linear(20, 40))

    def forward(self, x):
        return self.dec(self.enc(x))


def add_noise(layer, inputs):
    if layer.training:
        noisy = inputs[0] + 0.3 * paddle.randn(inputs[0].shape)  # WRONG
        #= return inputs[0] + 0.3 * paddle.randn(inputs[0].shape)


ae = AE()
ae.enc.register_forward_pre_hook(add_noise)  # OR
opt = paddle.optimizer.Adam(1e-3, parameters=ae.parameters())
for i in range(3):
    x = paddle.rand([16, 40])
    loss = nn.functional.mse_loss(ae(x), x)
    loss.backward()
    opt.step()
    opt.clear_grad()
