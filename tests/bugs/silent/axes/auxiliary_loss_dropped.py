"""The auxiliary loss is computed and never added."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)
body, head, aux = nn.Linear(6, 16), nn.Linear(16, 3), nn.Linear(16, 3)
opt = paddle.optimizer.Adam(1e-3, parameters=body.parameters() + head.parameters() + aux.parameters())
for step in range(4):
    x, y = paddle.randn([16, 6]), paddle.randint(0, 3, [16])
    hidden = F.relu(body(x))
    loss = F.cross_entropy(head(hidden), y)
    auxiliary = 0.4 * F.cross_entropy(aux(hidden), y)  # OR
    total = loss  # OR
    #= total = loss + auxiliary
    total.backward()  # WRONG
    #= total.backward()
    opt.step()
    opt.clear_grad()
