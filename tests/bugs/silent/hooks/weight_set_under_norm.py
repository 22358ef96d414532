"""A weight under weight norm is set, and the next call computes it again."""
import paddle
import paddle.nn as nn
from paddle.nn.utils import weight_norm


class WaveBlock(nn.Layer):
    def __init__(self, ch):
        super().__init__()
        self.conv = weight_norm(nn.Conv1D(ch, ch, 3, padding=2, dilation=2))
        self.mix = nn.Conv1D(ch, ch, 1)

    def forward(self, x):
        return x + self.mix(paddle.tanh(self.conv(x)))[:, :, : x.shape[2]]


net = nn.Sequential(nn.Conv1D(1, 8, 1), WaveBlock(8), WaveBlock(8), nn.Conv1D(8, 1, 1))
for layer in net.sublayers():
    if isinstance(layer, nn.Conv1D):
        layer.weight.set_value(paddle.normal(0, 0.01, layer.weight.shape))  # WRONG
        #= getattr(layer, "weight_v", layer.weight).set_value(paddle.randn(layer.weight.shape))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for i in range(3):
    wave = paddle.randn([4, 1, 33])
    loss = nn.functional.l1_loss(net(wave[:, :, :-1]), wave[:, :, 1:])
    loss.backward()
    opt.step()
    opt.clear_grad()
