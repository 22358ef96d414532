"""Mixed precision with a scaler: minimize() scales and steps, but does not clear gradients."""

import paddle

paddle.seed(22)
net = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling=128.0)
for batch in paddle.randn([3, 6, 4]):
    with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
        loss = net(batch).square().mean()
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.minimize(optimizer, scaled)  # BUG: gradient-not-cleared
