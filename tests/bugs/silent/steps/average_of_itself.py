"""The target net of a DQN is the net itself, so the soft update averages it with itself."""
import copy
import paddle
import paddle.nn as nn

q_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
target_net = q_net  # WRONG
#= target_net = copy.deepcopy(q_net)
opt = paddle.optimizer.Adam(1e-3, parameters=q_net.parameters())
gamma, tau = 0.99, 0.01
for step in range(3):
    s, s2 = paddle.randn([32, 4]), paddle.randn([32, 4])
    a = paddle.randint(0, 2, [32, 1])
    r, done = paddle.randn([32, 1]), (paddle.rand([32, 1]) < 0.1).astype("float32")
    q = paddle.take_along_axis(q_net(s), a, axis=1)
    with paddle.no_grad():
        q2 = target_net(s2).max(axis=1, keepdim=True)  # OR
        y = r + gamma * (1 - done) * q2
    loss = nn.functional.smooth_l1_loss(q, y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    with paddle.no_grad():
        for p, tp in zip(q_net.parameters(), target_net.parameters()):
            tp.set_value(tau * p + (1 - tau) * tp)  # OR
