# An encoder that is used as a language model needs the mask of a decoder: without it, each position
# attends to the token that it shall predict, and the loss falls to nothing.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(4)


class LanguageModel(nn.Layer):
    def __init__(self, words=50, width=24):
        super().__init__()
        self.token, self.position = nn.Embedding(words, width), nn.Embedding(64, width)
        layer = nn.TransformerEncoderLayer(width, 4, 48, dropout=0.1, normalize_before=True)
        self.encoder, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(width, words)

    def forward(self, ids):
        length = ids.shape[1]
        hidden = self.token(ids) + self.position(paddle.arange(length))
        hidden = self.encoder(hidden)  # WRONG
        #= mask = paddle.triu(paddle.full([length, length], float("-inf")), 1)
        #+ hidden = self.encoder(hidden, mask)
        return self.head(hidden)


net = LanguageModel()
opt = paddle.optimizer.AdamW(3e-4, parameters=net.parameters())
corpus = paddle.randint(0, 50, [32, 17])
for at in range(0, 32, 8):
    batch = corpus[at : at + 8]
    inputs, targets = batch[:, :-1], batch[:, 1:]
    loss = F.cross_entropy(net(inputs), targets)
    loss.backward()
    opt.step()
    opt.clear_grad()
