"""A warm-up that starts at 0 and is never stepped."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
warmup = paddle.optimizer.lr.LinearWarmup(1e-3, warmup_steps=10, start_lr=0.0, end_lr=1e-3)  # OR
opt = paddle.optimizer.Adam(warmup, parameters=net.parameters())
for step in range(5):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()  # WRONG
    #= opt.step(); warmup.step()
    opt.clear_grad()
