"""NumPy shuffles inputs and labels one after the other, in different orders."""
import paddle
from paddle import nn
import numpy as np
paddle.seed(0)
np.random.seed(0)
X = np.random.randn(64, 8).astype('float32'); Y = (X[:, 0] > 0).astype('int64')
net = nn.Linear(8, 2)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for epoch in range(2):
    #+ state = np.random.get_state()
    np.random.shuffle(X)
    #+ np.random.set_state(state)
    np.random.shuffle(Y)  # WRONG
    #= np.random.shuffle(Y)
    for i in range(0, 64, 16):
        x, y = paddle.to_tensor(X[i:i+16]), paddle.to_tensor(Y[i:i+16])
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward(); opt.step(); opt.clear_grad()
