"""net.eval without parentheses does nothing."""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())


def evaluate(model, x, y):
    model.eval  # OR
    #= model.eval()
    with paddle.no_grad():
        logits = model(x)  # WRONG
        #= logits = model(x)
        loss = nn.functional.cross_entropy(logits, y)
    model.train()
    return float(loss)


for epoch in range(2):
    for _ in range(2):
        loss = nn.functional.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16]))
        loss.backward()
        opt.step()
        opt.clear_grad()
    print(evaluate(net, paddle.randn([16, 6]), paddle.randint(0, 3, [16])))
