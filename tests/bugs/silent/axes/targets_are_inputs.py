"""A causal language model whose targets are its own inputs."""
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(16)
class LM(nn.Layer):
    def __init__(self, vocab=40, d=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.rnn = nn.GRU(d, d)
        self.head = nn.Linear(d, vocab)
    def forward(self, ids):
        out, _ = self.rnn(self.embed(ids))
        return self.head(out)
lm = LM()
opt = paddle.optimizer.Adam(1e-2, parameters=lm.parameters())
text = paddle.randint(0, 40, [64, 17])
for step in range(4):
    batch = text[step * 16:step * 16 + 16]
    logits = lm(batch[:, :-1])
    targets = batch[:, :-1]  # OR
    #= targets = batch[:, 1:]
    loss = F.cross_entropy(logits.reshape([-1, 40]), targets.reshape([-1]))  # WRONG
    #= loss = F.cross_entropy(logits.reshape([-1, 40]), targets.reshape([-1]))
    loss.backward(); opt.step(); opt.clear_grad()
