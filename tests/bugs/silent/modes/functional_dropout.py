"""F.dropout without training=self.training."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 16), nn.Linear(16, 3)

    def forward(self, x):
        x = F.relu(self.a(x))
        x = F.dropout(x, 0.3)  # WRONG
        #= x = F.dropout(x, 0.3, training=self.training)
        return self.b(x)


net = Net()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for epoch in range(2):
    net.train()
    loss = F.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16]))
    loss.backward()
    opt.step()
    opt.clear_grad()
    net.eval()
    with paddle.no_grad():
        print(float((net(paddle.randn([16, 6])).argmax(axis=1) == 0).astype("float32").mean()))
