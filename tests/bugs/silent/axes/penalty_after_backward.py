# discuss.pytorch.org/t/simple-l2-regularization/139: where the penalty is added decides whether it
# trains anything.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(5)
net = nn.Sequential(nn.Linear(12, 40), nn.Tanh(), nn.Linear(40, 3))
opt = paddle.optimizer.Momentum(0.02, parameters=net.parameters())
strength = 5e-4
for epoch in range(2):
    total = 0.0
    for batch in range(3):
        x = paddle.randn([20, 12])
        y = x[:, :3].argmax(axis=1)
        loss = F.cross_entropy(net(x), y)
        #+ for weight in net.parameters():
        #+     loss += strength * paddle.sum(weight**2)
        opt.clear_grad()
        loss.backward()
        l2 = paddle.zeros([])
        for weight in net.parameters():
            l2 = l2 + paddle.sum(weight**2)
            #= pass
        loss += strength * l2  # WRONG
        opt.step()
        total += loss.item()
    print(epoch, total / 3)
