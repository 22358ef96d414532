"""The noise of the weights is drawn anew after five steps."""
import paddle
from paddle import nn
class Noisy(nn.Layer):
    def __init__(self, a, b):
        super().__init__()
        self.mu, self.sigma = self.create_parameter([a, b]), self.create_parameter([a, b])
        self.reset()
    def reset(self): self.eps = paddle.randn(self.mu.shape)
    def forward(self, x): return x @ (self.mu + self.sigma * self.eps)
paddle.seed(3)
net = Noisy(6, 3)
opt = paddle.optimizer.Adam(0.01, parameters=net.parameters())
for step in range(10):
    if step % 5 == 0: net.reset()
    loss = nn.functional.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8]))
    loss.backward(); opt.step(); opt.clear_grad()
