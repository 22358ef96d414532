"""forward() is called past __call__, so the hook never runs."""
import paddle
from paddle import nn

paddle.seed(0)
body, head = nn.Linear(6, 16), nn.Linear(16, 3)
body.register_forward_post_hook(lambda layer, inputs, output: nn.functional.dropout(output, 0.2))
opt = paddle.optimizer.Adam(1e-3, parameters=body.parameters() + head.parameters())
for step in range(3):
    hidden = body.forward(paddle.randn([16, 6]))  # WRONG
    #= hidden = body(paddle.randn([16, 6]))
    loss = nn.functional.cross_entropy(head(hidden), paddle.randint(0, 3, [16]))
    loss.backward()
    opt.step()
    opt.clear_grad()
