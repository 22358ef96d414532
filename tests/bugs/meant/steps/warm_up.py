import paddle
from paddle import nn
paddle.seed(0)
net = nn.Linear(6, 3)
cosine = paddle.optimizer.lr.CosineAnnealingDecay(1e-3, T_max=10)
warm = paddle.optimizer.lr.LinearWarmup(cosine, warmup_steps=4, start_lr=0.0, end_lr=1e-3)
opt = paddle.optimizer.AdamW(warm, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
for step in range(8):
    loss = nn.functional.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8]))
    loss.backward()
    opt.step()
    opt.clear_grad()
    warm.step()
