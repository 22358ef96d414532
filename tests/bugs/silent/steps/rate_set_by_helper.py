"""A helper lowers the rate by an attribute."""
import paddle
from paddle import nn
def decay(opt, k):
    opt.lr = 0.1 * 0.5 ** k  # WRONG
    #= opt.set_lr(0.1 * 0.5 ** k)
def train():
    net = nn.Linear(3, 1)
    opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    for k in range(3):
        decay(opt, k)
        loss = net(paddle.randn([4, 3])).square().mean()
        loss.backward(); opt.step(); opt.clear_grad()
train()
