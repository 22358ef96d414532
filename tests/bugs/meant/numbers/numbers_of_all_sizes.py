"""Casts of probabilities, counts, hours and masks; large whole numbers; hashed ids."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
emb = nn.Embedding(24, 4); net = nn.Linear(8, 1); rnn = nn.GRU(3, 4); head = nn.Linear(4, 1); norm = nn.LayerNorm(3)
opt = paddle.optimizer.Adam(1e-3, parameters=[*emb.parameters(), *net.parameters(), *rnn.parameters(), *head.parameters(), *norm.parameters()])
for step in range(3):
    seconds = paddle.to_tensor(np.random.randint(0, 86400, 16).astype("float32"))
    hours = (seconds / 3600).astype("int64")
    days = (seconds / 86400.0 * 7).astype("int64")
    keep = (paddle.rand([16, 1]) + 0.5).astype("int64").astype("float32")
    x = paddle.concat([emb(hours), emb(days)], -1) * keep
    bars = paddle.to_tensor(np.random.randint(0, 50000, (16, 5, 3)).astype("float32"))
    a = head(rnn(norm(bars))[0][:, -1]); b = head(rnn((bars - 25000.0) / 14000.0)[0][:, -1])
    loss = F.mse_loss(net(x) + a + b, paddle.randn([16, 1]))
    loss.backward(); opt.step(); opt.clear_grad()
