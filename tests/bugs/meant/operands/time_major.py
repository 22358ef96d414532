import paddle
from paddle import nn
paddle.seed(0)
embed, rnn, head = nn.Embedding(20, 8), nn.GRU(8, 12, time_major=True), nn.Linear(12, 20)
opt = paddle.optimizer.Adam(1e-3, parameters=[p for l in (embed, rnn, head) for p in l.parameters()])
for step in range(3):
    ids = paddle.randint(0, 20, [4, 7])
    h, _ = rnn(embed(ids[:, :-1]).transpose([1, 0, 2]))
    logits = head(h).transpose([1, 0, 2])
    nn.functional.cross_entropy(logits.reshape([-1, 20]), ids[:, 1:].reshape([-1])).backward()
    opt.step()
    opt.clear_grad()
