"""The target network is the trained network under another name."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(4, 2)
target = net  # OR
#= target = nn.Linear(4, 2)
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(6):
    now, later, reward = paddle.randn([16, 4]), paddle.randn([16, 4]), paddle.randn([16])
    with paddle.no_grad():
        wanted = reward + 0.9 * target(later).max(axis=1)
    found = net(now).max(axis=1)
    loss = nn.functional.mse_loss(found, wanted)
    loss.backward()
    opt.step()
    opt.clear_grad()
    if step % 2 == 1:
        target.set_state_dict(net.state_dict())  # OR
