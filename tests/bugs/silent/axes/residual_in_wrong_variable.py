# PetarV-/GAT#11: the residual is assigned to a variable that is not used again
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(18)


class GATLayer(nn.Layer):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o, bias_attr=False)
        self.src, self.dst = nn.Linear(o, 1), nn.Linear(o, 1)
        self.shortcut = nn.Linear(i, o)

    def forward(self, seq, bias):
        fts = self.fc(seq)
        logits = self.src(fts) + self.dst(fts).transpose([0, 2, 1])
        coefs = F.softmax(F.leaky_relu(logits) + bias, axis=-1)
        ret = coefs @ fts
        fts = ret + self.shortcut(seq)  # WRONG
        #= ret = ret + self.shortcut(seq)
        return F.elu(ret)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = GATLayer(8, 16), GATLayer(16, 3)

    def forward(self, x, bias):
        return self.b(self.a(x, bias), bias)


net = Net()
opt = paddle.optimizer.Adam(5e-3, parameters=net.parameters())
adj = (paddle.rand([1, 20, 20]) < 0.2).astype("float32")
bias = (1 - paddle.clip(adj + paddle.eye(20), max=1.0)) * -1e9
x, y = paddle.randn([1, 20, 8]), paddle.randint(0, 3, [20])
for epoch in range(4):
    loss = F.cross_entropy(net(x, bias)[0], y)
    loss.backward()
    opt.step()
    opt.clear_grad()
