# yg211/bert_nli#3: padded batches, and the attention mask is one everywhere
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(6)


def collate(sentences):
    longest = max(len(s) for s in sentences)
    ids, masks = [], []
    for s in sentences:
        padded = s + [0] * (longest - len(s))
        ids.append(padded)
        masks.append([1] * len(padded))  # WRONG
        #= masks.append([1] * len(s) + [0] * (longest - len(s)))
    return paddle.to_tensor(ids), paddle.to_tensor(masks)


class NLI(nn.Layer):
    def __init__(self, d=32):
        super().__init__()
        self.embed = nn.Embedding(100, d, padding_idx=0)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.1)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.head = nn.Linear(d, 3)

    def forward(self, ids, mask):
        bias = (1.0 - mask.astype("float32")).unsqueeze([1, 2]) * -1e4
        h = self.encoder(self.embed(ids), bias)  # OR
        return self.head(h[:, 0])


net = NLI()
opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
for step in range(4):
    rows = [[int(t) for t in paddle.randint(1, 100, [n]).numpy()] for n in (5, 9, 7, 4)]
    ids, mask = collate(rows)
    loss = F.cross_entropy(net(ids, mask), paddle.randint(0, 3, [4]))
    loss.backward()
    opt.step()
    opt.clear_grad()
