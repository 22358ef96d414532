"""The best weights are kept by reference."""
import paddle
from paddle import nn

class Keeper:
    def __init__(self, net):
        self.net, self.best, self.low = net, None, 1e9

    def update(self, score):
        if score < self.low:
            self.low = score
            self.best = {k: v for k, v in self.net.named_parameters()}  # WRONG
            #= self.best = {k: v.clone() for k, v in self.net.named_parameters()}

    def restore(self):
        for k, v in self.net.named_parameters():
            v.set_value(self.best[k])  # OR

paddle.seed(13)
net = nn.Linear(5, 1)
opt = paddle.optimizer.SGD(0.3, parameters=net.parameters())
keep = Keeper(net)
x = paddle.randn([40, 5]); y = x.sum(1, keepdim=True)
for epoch in range(6):
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward(); opt.step(); opt.clear_grad()
    with paddle.no_grad():
        keep.update(float(nn.functional.mse_loss(net(x), y)) + (epoch > 2))
keep.restore()
