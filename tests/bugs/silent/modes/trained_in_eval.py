"""After the first validation the net stays in eval()."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())


def validate():
    net.eval()  # WRONG
    #= net.eval()
    with paddle.no_grad():
        hits = net(paddle.randn([16, 6])).argmax(axis=1) == paddle.randint(0, 3, [16])
    return float(hits.astype("float32").mean())


for epoch in range(3):
    #+ net.train()
    for _ in range(2):
        loss = nn.functional.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16]))  # OR
        #= loss = nn.functional.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16]))
        loss.backward()
        opt.step()
        opt.clear_grad()
    validate()
