"""NumPy's seed is set to the same number in each step."""
import paddle
from paddle import nn
import numpy as np
paddle.seed(0)
net = nn.Linear(8, 8)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
x = np.ones((16, 8), 'float32')
for step in range(5):
    np.random.seed(1)  # WRONG
    #= np.random.seed(step)
    noise = np.random.randn(16, 8).astype('float32')
    loss = (net(paddle.to_tensor(x + noise)) - paddle.to_tensor(x)).square().mean()
    loss.backward(); opt.step(); opt.clear_grad()
