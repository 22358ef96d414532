import paddle
from paddle import nn
paddle.seed(0)
block, relu = nn.Linear(8, 8), nn.ReLU()
net = nn.Sequential(nn.Linear(6, 8), relu, nn.Linear(8, 8), relu)
head = nn.Linear(8, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=[*net.parameters(), *block.parameters(), *head.parameters()])
for step in range(3):
    h = net(paddle.randn([8, 6]))
    for _ in range(4):
        h = h + relu(block(h))
    nn.functional.cross_entropy(head(h), paddle.randint(0, 3, [8])).backward()
    opt.step()
    opt.clear_grad()
