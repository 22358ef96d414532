# Dynamic task prioritization (Guo et al. 2018): each mean is the loss of a task, and hard tasks
# count more. Then images in turn, whose loss is that of a single sample.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)


def weighted(logits, labels):
    mean = F.cross_entropy(logits, labels)
    return (1 - paddle.exp(-mean)) ** 2.0 * mean


body, heads = nn.Linear(8, 16), nn.LayerList([nn.Linear(16, n) for n in (2, 3)])
opt = paddle.optimizer.Adam(1e-3, parameters=[*body.parameters(), *heads.parameters()])
for step in range(4):
    x = paddle.randn([16, 8])
    labels = (x[:, 0] > 0).astype("int64"), x[:, :3].argmax(axis=1)
    hidden = F.relu(body(x))
    loss = sum(weighted(head(hidden), y) for head, y in zip(heads, labels, strict=True))
    loss.backward()
    opt.step()
    opt.clear_grad()

net = nn.Linear(8, 3)
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
for step in range(4):
    x = paddle.randn([1, 8])
    loss = weighted(net(x), x[:, :3].argmax(axis=1))
    loss.backward()
    opt.step()
    opt.clear_grad()
