# No optimizer decays the weights: their norm is logged, beside the loss and in a sum with it.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
history = []
for step in range(3):
    x = paddle.randn([16, 6])
    loss = F.mse_loss(net(x), x.sum(axis=1, keepdim=True))
    loss.backward()
    opt.step()
    opt.clear_grad()
    norm = sum(weight.abs().sum() for weight in net.parameters())
    objective = loss + 1e-3 * norm
    with paddle.no_grad():
        loss = loss + 1e-3 * norm
    history.append((float(norm), float(objective), float(loss)))
for step in range(3):
    x = paddle.randn([16, 6])
    loss = F.mse_loss(net(x), x.sum(axis=1, keepdim=True))
    loss.backward(retain_graph=True)
    fitted = [weight.grad.norm().item() for weight in net.parameters()]
    opt.clear_grad()
    loss = loss + 1e-3 * sum(weight.abs().sum() for weight in net.parameters())
    loss.backward()
    opt.step()
    opt.clear_grad()
    history.append(fitted)
