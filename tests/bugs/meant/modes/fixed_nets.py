"""Only an input is trained: an attack, a prompt, a picture; the nets are fixed in eval mode."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3))
net.eval()
picture = paddle.create_parameter([2, 3, 8, 8], "float32")
opt = paddle.optimizer.Adam(0.05, parameters=[picture])
y = paddle.to_tensor([0, 2])
for step in range(4):
    loss = F.cross_entropy(net(picture), y) + 1e-3 * picture.square().mean()
    loss.backward(); opt.step(); opt.clear_grad()
    net.clear_gradients()
class Prompted(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Dropout(0.2), nn.Linear(4, 4), nn.Dropout(0.2)); self.head = nn.Linear(4, 2)
        self.prompt = self.create_parameter([1, 4])
        for p in self.body.parameters():
            p.stop_gradient = True
    def forward(self, x):
        return self.head(self.body(x + self.prompt))
tuned = Prompted(); tuned.body.eval()
opt = paddle.optimizer.Adam(0.05, parameters=[p for p in tuned.parameters() if not p.stop_gradient])
for step in range(4):
    loss = F.cross_entropy(tuned(paddle.randn([6, 4])), paddle.randint(0, 2, [6]))
    loss.backward(); opt.step(); opt.clear_grad()
