"""The rate is lowered by an attribute that the optimizer does not read."""
import paddle
from paddle import nn
paddle.seed(20)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
opt = paddle.optimizer.SGD(learning_rate=0.05, parameters=net.parameters())
x = paddle.randn([64, 10]); y = (x ** 2).sum(1, keepdim=True)
for epoch in range(6):
    if epoch == 3:
        opt.learning_rate = 0.005  # WRONG
        #= opt.set_lr(0.005)
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()  # OR
    opt.clear_grad()
    print(epoch, float(loss))
