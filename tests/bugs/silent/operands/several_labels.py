"""Several labels at once, in a loss over one distribution."""
import numpy as np
import paddle
from paddle import nn

paddle.seed(0)
rng = np.random.RandomState(0)
net = nn.Linear(6, 5)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    x = paddle.randn([8, 6])
    y = paddle.to_tensor((rng.rand(8, 5) > 0.4).astype("float32"))
    loss = nn.functional.cross_entropy(net(x), y, soft_label=True)  # WRONG
    #= loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
