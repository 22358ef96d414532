"""gather picks rows; the actions are columns."""
import paddle
from paddle import nn

paddle.seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = paddle.optimizer.Adam(1e-3, parameters=q.parameters())
for step in range(4):
    state, reward = paddle.randn([32, 4]), paddle.randn([32])
    action = paddle.randint(0, 2, [32])
    value = paddle.gather(q(state), action)[:, 0]  # WRONG
    #= value = paddle.take_along_axis(q(state), action.unsqueeze(1), axis=1)[:, 0]
    loss = ((value - reward) ** 2).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
