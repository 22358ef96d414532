"""The forward of the encoder is decorated with no_grad."""
import paddle
from paddle import nn

class Enc(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 8)

    @paddle.no_grad()  # WRONG
    def forward(self, x):
        return nn.functional.relu(self.fc(x))  # OR

paddle.seed(9)
enc, head = Enc(), nn.Linear(8, 2)
opt = paddle.optimizer.Adam(0.01, parameters=enc.parameters() + head.parameters())
for step in range(5):
    x = paddle.randn([16, 6])
    loss = nn.functional.cross_entropy(head(enc(x)), (x[:, 0] > 0).astype("int64"))
    loss.backward(); opt.step(); opt.clear_grad()
