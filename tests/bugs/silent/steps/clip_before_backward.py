# yandex-research/tabm#20: the gradients are clipped before backward
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(21)
net = nn.Sequential(nn.Linear(9, 40), nn.ReLU(), nn.Linear(40, 1))
opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
for step in range(5):
    x = paddle.randn([32, 9])
    y = (x**2).sum(1, keepdim=True)
    opt.clear_grad()
    loss = F.mse_loss(net(x), y)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # WRONG
    loss.backward()
    #+ nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
