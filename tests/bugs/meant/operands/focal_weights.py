# Focal weights of each sample, taken together with the mean of the losses. Then focal weights of
# each image, whose loss is the mean of its pixels, and of samples by nll_loss.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    x = paddle.randn([16, 8])
    y = x[:, :3].argmax(axis=1)
    each = F.cross_entropy(net(x), y, reduction="none")
    focal = ((1 - paddle.exp(-each)) ** 2 * each).mean()
    mean = F.cross_entropy(net(x), y)
    likelihood = paddle.exp(-mean)
    print(float(likelihood), float((1 - likelihood) ** 2))
    loss = 0.5 * focal + 0.5 * mean
    loss.backward()
    opt.step()
    opt.clear_grad()

net = nn.Conv2D(1, 3, 3, padding=1)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    images = paddle.randn([4, 1, 6, 6])
    labels = (images[:, 0] > 0).astype("int64")
    scores = net(images).transpose([0, 2, 3, 1])
    each = F.cross_entropy(scores, labels, reduction="none").squeeze(-1).mean(axis=[1, 2])
    loss = ((1 - paddle.exp(-each)) ** 2 * each).mean()
    pixels = F.nll_loss(F.log_softmax(net(images), axis=1), labels, reduction="none")
    loss = loss + ((1 - paddle.exp(-pixels)) ** 2 * pixels).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
