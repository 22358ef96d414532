import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
net = nn.Linear(6, 4)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
rng = np.random.RandomState(0)
for step in range(3):
    mixed = rng.dirichlet(np.ones(4), 8).astype("float32")
    F.cross_entropy(net(paddle.randn([8, 6])), paddle.to_tensor(mixed), soft_label=True).backward()
    opt.step()
    opt.clear_grad()
