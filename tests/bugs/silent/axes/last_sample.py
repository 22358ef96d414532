"""The last sample is taken instead of the last time step of each sample."""
import paddle
from paddle import nn

paddle.seed(0)
gru, head = nn.GRU(6, 12), nn.Linear(12, 2)
opt = paddle.optimizer.Adam(1e-3, parameters=gru.parameters() + head.parameters())
for step in range(3):
    x, y = paddle.randn([8, 8, 6]), paddle.randint(0, 2, [8])
    out, _ = gru(x)
    last = out[-1]  # WRONG
    #= last = out[:, -1]
    loss = nn.functional.cross_entropy(head(last), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
