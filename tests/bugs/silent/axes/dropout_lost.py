"""The dropped features are computed and the plain ones go on."""
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(12)
class Classifier(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 16)
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(16, 3)
    def forward(self, ids):
        pooled = self.embed(ids).mean(1)
        dropped = self.drop(pooled)  # WRONG
        #= dropped = self.drop(pooled)
        return self.fc(pooled)  # OR
        #= return self.fc(dropped)
net = Classifier()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    ids = paddle.randint(0, 100, [16, 12])
    loss = F.cross_entropy(net(ids), ids[:, 0] % 3)
    loss.backward(); opt.step(); opt.clear_grad()
