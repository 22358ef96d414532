"""Some experts get no tokens in a single step, but each gets some over several steps."""

import paddle
from paddle import nn

paddle.seed(0)
gate = nn.Linear(4, 2)
experts = nn.LayerList([nn.Linear(4, 4) for _ in range(2)])
optimizer = paddle.optimizer.SGD(0.1, parameters=[*gate.parameters(), *experts.parameters()])
for step in range(4):
    x = paddle.randn([3, 4])
    weights = nn.functional.softmax(gate(x))
    chosen = step % 2
    out = experts[chosen](x) * weights[:, chosen : chosen + 1]
    out.square().mean().backward()
    optimizer.step()
    optimizer.clear_grad()
