"""The attention over the instances of a bag is normalised over the batch."""
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(73)


class AttentionPool(nn.Layer):
    """Weighs the instances of a bag and adds them up."""

    def __init__(self, dim):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(dim, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, bag):
        weight = F.softmax(self.score(bag), axis=0)  # WRONG
        #= weight = F.softmax(self.score(bag), axis=1)
        return (weight * bag).sum(axis=1)


class BagNet(nn.Layer):
    def __init__(self, dim=10):
        super().__init__()
        self.lift = nn.Linear(dim, 16)
        self.pool = AttentionPool(16)
        self.cls = nn.Linear(16, 1)

    def forward(self, bag):
        return self.cls(self.pool(F.relu(self.lift(bag))))


def bags(n=16, size=7):
    y = paddle.randint(0, 2, [n, 1]).astype("float32")
    x = paddle.randn([n, size, 10])
    x[:, 0] += 3.0 * y
    return x, y


model = BagNet()
opt = paddle.optimizer.Adam(5e-3, parameters=model.parameters())
for step in range(8):
    x, y = bags()
    loss = F.binary_cross_entropy_with_logits(model(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    print(step, float(loss))
