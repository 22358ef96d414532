# jingyaogong/minimind-v#76: no attention mask for the padding
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(13)


class Classifier(nn.Layer):
    def __init__(self, vocab=80, d=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, d, padding_idx=0)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0), 2)
        self.head = nn.Linear(d, 4)

    def forward(self, ids):
        mask = (ids != 0).unsqueeze([1, 2])
        h = self.encoder(self.embed(ids))  # WRONG
        #= h = self.encoder(self.embed(ids), mask)
        keep = (ids != 0).astype("float32").unsqueeze(-1)
        return self.head((h * keep).sum(1) / keep.sum(1))


net = Classifier()
opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
rows = [[int(t) for t in paddle.randint(1, 80, [n]).numpy()] + [0] * (12 - n) for n in (12, 7, 5, 9, 4, 11)]
for step in range(4):
    ids = paddle.to_tensor(rows)
    loss = F.cross_entropy(net(ids), paddle.randint(0, 4, [6]))
    loss.backward()
    opt.step()
    opt.clear_grad()
