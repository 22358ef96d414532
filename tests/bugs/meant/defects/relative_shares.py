"""Positive scores are divided by their sum: shares, mixtures, and a loss of all pairs."""
import math
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(5)
np.random.seed(5)
net = nn.Linear(6, 5); proj = nn.Linear(6, 4)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters() + proj.parameters())
for step in range(3):
    x = paddle.randn([10, 6]); k = paddle.randint(0, 5, [10])
    score = F.softplus(net(x))
    share = score / score.sum(-1, keepdim=True)
    nll = -paddle.log(paddle.take_along_axis(share, k.unsqueeze(1), 1)).mean()
    drawn = paddle.multinomial(share, 1)
    z = F.normalize(proj(x), axis=-1)
    pairs = z @ z.t() / 0.1
    everyone = paddle.take_along_axis(pairs, paddle.arange(10).unsqueeze(0).expand([10, 10]), 1)
    contrast = F.cross_entropy(everyone, paddle.arange(10))
    (nll + contrast + 0.0 * score.mean()).backward(); opt.step(); opt.clear_grad()
