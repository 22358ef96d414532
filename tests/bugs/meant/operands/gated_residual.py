"""Healthy: gated residual with deep supervision; distillation with KL by hand plus MSE of logits."""
import paddle
from paddle import nn
import paddle.nn.functional as F
enc = nn.Linear(6, 6); gate = nn.Linear(6, 6); head = nn.Linear(6, 3); teacher = nn.Linear(6, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=enc.parameters() + gate.parameters() + head.parameters())
for i in range(3):
    x = paddle.randn([8, 6]); y = paddle.randint(0, 3, [8])
    back = enc(x)
    rest = gate(x) * (x - back)
    logits = head(rest)
    with paddle.no_grad():
        t = teacher(x)
    p, lp, lt = F.softmax(logits, -1), F.log_softmax(logits, -1), F.log_softmax(t, -1)
    kl = (p * (lp - lt)).sum(-1).mean()
    loss = F.cross_entropy(logits, y) + kl + F.mse_loss(logits, t) + F.mse_loss(back, x)
    loss.backward(); opt.step(); opt.clear_grad()
