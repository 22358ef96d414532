"""A port from PyTorch puts the time first; Paddle's LSTM takes the batch first."""
import paddle
from paddle import nn

paddle.seed(0)
embed, lstm, head = nn.Embedding(20, 8), nn.LSTM(8, 16), nn.Linear(16, 3)
params = [*embed.parameters(), *lstm.parameters(), *head.parameters()]
opt = paddle.optimizer.Adam(1e-3, parameters=params)
for step in range(3):
    ids, y = paddle.randint(0, 20, [6, 5]), paddle.randint(0, 3, [6])
    x = embed(ids).transpose([1, 0, 2])  # WRONG
    #= x = embed(ids)
    out, _ = lstm(x)
    last = out[-1]
    #= last = out[:, -1]
    loss = nn.functional.cross_entropy(head(last), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
