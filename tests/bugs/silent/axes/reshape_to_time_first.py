"""[batch, time, features] to [time, batch, features] by reshape."""
import paddle
from paddle import nn

paddle.seed(0)


class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 8)
        self.rnn = nn.GRU(8, 16, time_major=True)
        self.out = nn.Linear(16, 5)

    def forward(self, ids):
        x = self.embed(ids)
        b, t, c = x.shape
        x = x.reshape([t, b, c])  # WRONG
        #= x = x.transpose([1, 0, 2])
        h, _ = self.rnn(x)
        return self.out(h[-1])


net = Tagger()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    ids, y = paddle.randint(0, 30, [6, 7]), paddle.randint(0, 5, [6])
    loss = nn.functional.cross_entropy(net(ids), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
