"""Several tasks; each loss is weighted by a learned parameter."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Weighting(nn.Layer):
    def __init__(self, tasks):
        super().__init__()
        self.log_variance = self.create_parameter(
            [tasks], default_initializer=nn.initializer.Constant(0.0)
        )

    def forward(self, losses):
        losses = paddle.stack(losses)
        return (losses * (-self.log_variance).exp() + self.log_variance).sum()


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(16, 64), nn.ReLU())
        self.heads = nn.LayerDict({"class": nn.Linear(64, 5), "value": nn.Linear(64, 1)})

    def forward(self, x):
        hidden = self.trunk(x)
        return {name: head(hidden) for name, head in self.heads.items()}


paddle.seed(19)
net, weighting = Net(), Weighting(2)
optimizer = paddle.optimizer.Adam(1e-3, parameters=[*net.parameters(), *weighting.parameters()])
log = {"class": [], "value": []}
for _ in range(4):
    out = net(paddle.randn([32, 16]))
    losses = {
        "class": F.cross_entropy(out["class"], paddle.randint(0, 5, [32])),
        "value": F.mse_loss(out["value"], paddle.randn([32, 1])),
    }
    weighting(list(losses.values())).backward()
    optimizer.step()
    optimizer.clear_grad()
    for name, loss in losses.items():
        log[name].append(loss.detach())
print({name: float(paddle.stack(losses).mean()) for name, losses in log.items()})
