# InseeFrLab/torchTextClassifiers#92: the mask of scaled_dot_product_attention is inverted
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(5)


class LabelAttention(nn.Layer):
    def __init__(self, vocab=60, d=16, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, d, padding_idx=0)
        self.labels = self.create_parameter([classes, d])
        self.key, self.value = nn.Linear(d, d), nn.Linear(d, d)
        self.score = nn.Linear(d, 1)

    def forward(self, ids):
        b, n = ids.shape
        x = self.embed(ids)
        q = self.labels.unsqueeze(0).expand([b, -1, -1]).unsqueeze(2)
        k, v = self.key(x).unsqueeze(2), self.value(x).unsqueeze(2)
        pad = (ids == 0)
        mask = pad.unsqueeze(1).unsqueeze(1)  # WRONG
        #= mask = paddle.logical_not(pad).unsqueeze(1).unsqueeze(1)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # OR
        return self.score(out.squeeze(2)).squeeze(-1)


net = LabelAttention()
opt = paddle.optimizer.Adam(2e-3, parameters=net.parameters())
for step in range(4):
    ids = paddle.randint(1, 60, [6, 9])
    ids[:, 6:] = 0
    loss = F.cross_entropy(net(ids), paddle.randint(0, 3, [6]))
    loss.backward()
    opt.step()
    opt.clear_grad()
