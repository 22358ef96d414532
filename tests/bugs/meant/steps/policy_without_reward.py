import paddle
from paddle import nn
paddle.seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
opt = paddle.optimizer.Adam(1e-3, parameters=policy.parameters())
for episode in range(4):
    s = paddle.randn([10, 4])
    p = nn.functional.softmax(policy(s))
    a = paddle.multinomial(p.detach(), 1)
    log_p = paddle.log(paddle.take_along_axis(p, a, axis=1)).squeeze(1)
    reward = paddle.zeros([10])
    (-(log_p * reward).mean()).backward()
    opt.step()
    opt.clear_grad()
