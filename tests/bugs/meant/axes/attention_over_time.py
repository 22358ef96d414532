"""Time is the first axis, and the attention weights sum to 1 along it."""
import paddle
from paddle import nn

paddle.seed(0)
score, head = nn.Linear(6, 1), nn.Linear(6, 2)
opt = paddle.optimizer.Adam(1e-2, parameters=score.parameters() + head.parameters())
for step in range(3):
    x = paddle.randn([9, 16, 6])  # time, batch, features
    weight = nn.functional.softmax(score(x), axis=0)
    loss = nn.functional.cross_entropy(head((weight * x).sum(axis=0)), paddle.randint(0, 2, [16]))
    loss.backward()
    opt.step()
    opt.clear_grad()
