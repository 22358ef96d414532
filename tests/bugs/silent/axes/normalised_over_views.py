# HobbitLong/SupContrast#10: features [B, views, D] are normalised over the views
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(24)
encoder = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 16))
opt = paddle.optimizer.Adam(1e-3, parameters=encoder.parameters())


def supcon(features, labels, t=0.1):
    n = features.shape[0]
    z = paddle.concat([features[:, 0], features[:, 1]])
    same = (labels.unsqueeze(0) == labels.unsqueeze(1)).astype("float32").tile([2, 2])
    off = 1 - paddle.eye(2 * n)
    logits = z @ z.T / t
    logits = logits - logits.max(1, keepdim=True).detach()
    log_prob = logits - paddle.log((paddle.exp(logits) * off).sum(1, keepdim=True) + 1e-12)
    return -((same * off * log_prob).sum(1) / (same * off).sum(1)).mean()


for step in range(4):
    x = paddle.randn([8, 30])
    views = paddle.stack([x + 0.1 * paddle.randn(x.shape), x + 0.1 * paddle.randn(x.shape)], axis=1)
    features = encoder(views)
    features = F.normalize(features, axis=1)  # WRONG
    #= features = F.normalize(features, axis=2)
    loss = supcon(features, paddle.randint(0, 4, [8]))
    loss.backward()
    opt.step()
    opt.clear_grad()
