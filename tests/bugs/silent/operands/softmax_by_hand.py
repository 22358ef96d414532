"""A softmax written by hand comes before a loss that takes logits."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(8, 3)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(4):
    x, y = paddle.randn([16, 8]), paddle.randint(0, 3, [16])
    out = net(x)
    e = paddle.exp(out - out.max(axis=1, keepdim=True))
    probs = e / e.sum(axis=1, keepdim=True)
    loss = nn.functional.cross_entropy(probs, y)  # WRONG
    #= loss = nn.functional.cross_entropy(out, y)
    loss.backward()
    opt.step()
    opt.clear_grad()
