"""Tags of tokens from both sides; the last logits are not used."""
import math
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(1)
class Block(nn.Layer):
    def __init__(self, d):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d); self.o = nn.Linear(d, d)
    def forward(self, x):
        t, d = x.shape[1], x.shape[2]
        q, k, v = self.qkv(x).chunk(3, -1)
        s = q @ k.transpose([0, 2, 1]) / math.sqrt(d)

        return x + self.o(F.softmax(s, -1) @ v)
class LM(nn.Layer):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(30, 16); self.p = nn.Embedding(32, 16); self.b = nn.LayerList([Block(16), Block(16)]); self.h = nn.Linear(16, 30)
    def forward(self, ids):
        x = self.e(ids) + self.p(paddle.arange(ids.shape[1]))
        for b in self.b:
            x = b(x)
        return self.h(x)
lm = LM(); opt = paddle.optimizer.AdamW(1e-3, parameters=lm.parameters())
for i in range(3):
    ids = paddle.randint(0, 30, [4, 12])
    tags = paddle.randint(0, 30, [4, 12])
    loss = F.cross_entropy(lm(ids)[:, :-1], tags[:, 1:])
    loss.backward(); opt.step(); opt.clear_grad()
