"""The samples of a batch are taken from the output of an LSTM in turn."""
import paddle
from paddle import nn
paddle.seed(0)
rnn, head = nn.LSTM(4, 8), nn.Linear(8, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=rnn.parameters() + head.parameters())
for i in range(3):
    x = paddle.randn([5, 7, 4]); n = [3, 7, 2, 5, 4]; y = paddle.randint(0, 3, [5])
    out, _ = rnn(x)
    losses = [nn.functional.cross_entropy(head(out[k][:n[k]].mean(0, keepdim=True)), y[k:k + 1]) for k in range(5)]
    loss = sum(losses) / 5
    loss.backward(); opt.step(); opt.clear_grad()
