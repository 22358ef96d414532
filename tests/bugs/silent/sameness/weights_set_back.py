"""Each epoch begins with the first weights again."""
import paddle
import paddle.nn as nn

paddle.seed(27)
x_all = paddle.randn([120, 5])
y_all = (x_all[:, :2].sum(axis=1, keepdim=True) > 0).astype("float32")


def fresh():
    return nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))


net = fresh()
start = {k: v.clone() for k, v in net.state_dict().items()}
opt = paddle.optimizer.Adam(0.02, parameters=net.parameters())
for epoch in range(3):
    net.set_state_dict(start)  # WRONG
    for lo in range(0, 120, 40):
        logit = net(x_all[lo : lo + 40])
        loss = nn.functional.binary_cross_entropy_with_logits(logit, y_all[lo : lo + 40])
        loss.backward()
        opt.step()
        opt.clear_grad()
    print(epoch, loss.item())
