# datawhalechina/easy-rl#117: the TD target of double DQN is not detached
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(6)


def make():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))


policy_net, target_net = make(), make()
target_net.set_state_dict(policy_net.state_dict())
opt = paddle.optimizer.Adam(1e-3, parameters=policy_net.parameters())
for step in range(5):
    state, next_state = paddle.randn([32, 4]), paddle.randn([32, 4])
    action = paddle.randint(0, 2, [32, 1])
    reward, done = paddle.rand([32, 1]), (paddle.rand([32, 1]) < 0.1).astype("float32")
    q = paddle.take_along_axis(policy_net(state), action, axis=1)
    best = policy_net(next_state).max(axis=1, keepdim=True)  # OR
    expected = reward + 0.95 * best * (1 - done)  # WRONG
    #= expected = (reward + 0.95 * best * (1 - done)).detach()
    loss = F.smooth_l1_loss(q, expected)  # OR
    opt.clear_grad()
    loss.backward()
    opt.step()
