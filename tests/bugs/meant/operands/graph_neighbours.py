import paddle
from paddle import nn
paddle.seed(0)
a, b = nn.Linear(5, 3), nn.Linear(3, 3)
opt = paddle.optimizer.Adam(1e-2, parameters=a.parameters() + b.parameters())
src, dst = paddle.randint(0, 20, [20]), paddle.randint(0, 20, [20])
x, y = paddle.randn([20, 5]), paddle.randint(0, 3, [20])
for step in range(4):
    h = nn.functional.relu(a(x))
    messages = paddle.gather(h, src)
    pooled = paddle.scatter(paddle.zeros([20, 3]), dst, messages, overwrite=False)
    nn.functional.cross_entropy(b(h + pooled), y).backward()
    opt.step()
    opt.clear_grad()
