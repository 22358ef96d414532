"""The raw layer is called, not DataParallel around it: gradients are not averaged."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Linear(6, 3)
model = paddle.DataParallel(net)
opt = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
for step in range(3):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    loss = nn.functional.cross_entropy(net(x), y)  # WRONG
    #= loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
