# jsbaan/transformer-from-scratch#6: [B, heads, n, d] is reshaped to [B, n, heads * d]
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(14)


class Attention(nn.Layer):
    def __init__(self, d=24, heads=3):
        super().__init__()
        self.heads, self.dk = heads, d // heads
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        b, n, d = x.shape
        qkv = self.qkv(x).reshape([b, n, 3, self.heads, self.dk]).transpose([2, 0, 3, 1, 4])
        q, k, v = qkv[0], qkv[1], qkv[2]
        att = F.softmax(q @ k.transpose([0, 1, 3, 2]) / self.dk**0.5, axis=-1)
        values = att @ v
        return self.out(values.reshape([b, n, d]))  # WRONG
        #= return self.out(values.transpose([0, 2, 1, 3]).reshape([b, n, d]))


class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 24)
        self.att = Attention()
        self.head = nn.Linear(24, 30)

    def forward(self, ids):
        x = self.embed(ids)
        return self.head(x + self.att(x))


net = Tagger()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    ids = paddle.randint(0, 30, [5, 8])
    loss = F.cross_entropy(net(ids), ids.flip(1))
    loss.backward()
    opt.step()
    opt.clear_grad()
