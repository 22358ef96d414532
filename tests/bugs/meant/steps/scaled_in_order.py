import paddle
from paddle import nn
paddle.seed(0)
net = nn.Linear(6, 3)
opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
for step in range(3):
    loss = nn.functional.cross_entropy(net(paddle.randn([8, 6])), paddle.randint(0, 3, [8]))
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    opt.clear_grad()
