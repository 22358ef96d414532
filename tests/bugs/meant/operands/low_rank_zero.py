import paddle
from paddle import nn
paddle.seed(0)
base = nn.Linear(8, 8)
for p in base.parameters():
    p.stop_gradient = True
down = nn.Linear(8, 2, bias_attr=False)
up = nn.Linear(2, 8, weight_attr=nn.initializer.Constant(0.0), bias_attr=False)
head = nn.Linear(8, 3, weight_attr=nn.initializer.Constant(0.0))
opt = paddle.optimizer.AdamW(1e-2, parameters=[*down.parameters(), *up.parameters(), *head.parameters()])
for step in range(5):
    x = paddle.randn([8, 8])
    nn.functional.cross_entropy(head(base(x) + up(down(x))), paddle.randint(0, 3, [8])).backward()
    opt.step()
    opt.clear_grad()
