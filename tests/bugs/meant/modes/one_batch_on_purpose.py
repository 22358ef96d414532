import paddle
from paddle import nn
from paddle.io import DataLoader, TensorDataset
paddle.seed(0)
loader = DataLoader(TensorDataset([paddle.randn([40, 6]), paddle.randint(0, 3, [40])]), batch_size=8, shuffle=True)
x, y = next(iter(loader))
net = nn.Linear(6, 3)
opt = paddle.optimizer.Adam(1e-2, parameters=net.parameters())
for step in range(5):
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
    opt.clear_grad()
