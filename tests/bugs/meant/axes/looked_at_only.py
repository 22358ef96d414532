"""Values computed to be looked at, and left in the code."""
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(0)
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 16); self.b = nn.Linear(16, 3); self.lstm = nn.LSTM(16, 16)
    def forward(self, x):
        h = F.relu(self.a(x))
        _unused = F.elu(h)
        shaped = F.gelu(h)
        assert shaped.shape == h.shape
        out, (hn, cn) = self.lstm(h.unsqueeze(1))
        norm = h.norm(axis=1)
        mean = h.mean(0)
        logits = self.b(out[:, 0])
        probs = F.softmax(logits)
        conf = F.sigmoid(logits)
        return logits
net = Net(); opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
def train(x, y):
    logits = net(x)
    loss = F.cross_entropy(logits, y)
    pred = logits.argmax(1)
    acc = (pred == y).astype("float32").mean()
    diff = F.one_hot(y, 3) - logits
    clipped = logits.clip(-5, 5)
    loss.backward(); opt.step(); opt.clear_grad()
    return float(loss)
for i in range(4):
    x = paddle.randn([16, 6]); train(x, x[:, :3].argmax(1))
