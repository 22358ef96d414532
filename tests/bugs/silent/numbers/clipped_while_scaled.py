"""Gradients are clipped before unscale_."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
for step in range(3):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    scaler.scale(nn.functional.cross_entropy(net(x), y)).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # WRONG
    #= scaler.unscale_(opt); nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    opt.clear_grad()
