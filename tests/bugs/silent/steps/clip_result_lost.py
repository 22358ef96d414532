"""The gradient clip returns new gradients, and they are dropped."""
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(19)
class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16); self.lstm = nn.LSTM(16, 16); self.out = nn.Linear(16, 5)
    def forward(self, ids):
        h, _ = self.lstm(self.embed(ids))
        return self.out(h)
net = Tagger()
clip = nn.ClipGradByNorm(0.1)
opt = paddle.optimizer.SGD(1.0, parameters=net.parameters())
#= opt = paddle.optimizer.SGD(1.0, parameters=net.parameters(), grad_clip=clip)
for step in range(4):
    ids = paddle.randint(0, 50, [8, 12])
    loss = F.cross_entropy(net(ids).reshape([-1, 5]), (ids % 5).reshape([-1]))
    loss.backward()
    clip([(p, p.grad) for p in net.parameters()])  # WRONG
    opt.step()
    opt.clear_grad()
