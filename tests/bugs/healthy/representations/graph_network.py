"""Messages along the edges of a graph; only some nodes have labels."""

import paddle
from paddle import nn
from paddle.nn import functional as F


class Layer(nn.Layer):
    def __init__(self, inward, outward):
        super().__init__()
        self.own, self.others = nn.Linear(inward, outward), nn.Linear(inward, outward)

    def forward(self, x, edges):
        received = paddle.geometric.send_u_recv(x, edges[0], edges[1], reduce_op="mean")
        return self.own(x) + self.others(received)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList([Layer(16, 32), Layer(32, 32), Layer(32, 3)])

    def forward(self, x, edges):
        for number, layer in enumerate(self.layers):
            x = layer(x, edges)
            if number < len(self.layers) - 1:
                x = F.dropout(F.relu(x), 0.3, training=self.training)
        return x


paddle.seed(42)
net = Net()
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
x, edges, y = paddle.randn([60, 16]), paddle.randint(0, 60, [2, 240]), paddle.randint(0, 3, [60])
known = paddle.rand([60]) < 0.3
for _ in range(3):
    net.train()
    loss = F.cross_entropy(net(x, edges)[known], y[known])
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    net.eval()
    with paddle.no_grad():
        print((net(x, edges).argmax(1) == y)[~known].astype("float32").mean().item())
