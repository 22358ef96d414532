"""On the CPU the input gradient of layer_norm ignores the scale if the scale is frozen."""
import paddle
from paddle import nn

paddle.seed(0)
embed, norm, head = nn.Linear(6, 16), nn.LayerNorm(16), nn.Linear(16, 3)
norm.weight.set_value(3 * paddle.rand([16]))
norm.weight.stop_gradient = True  # OR
#= norm.weight.stop_gradient = False
opt = paddle.optimizer.Adam(1e-3, parameters=embed.parameters() + head.parameters())
#= opt = paddle.optimizer.Adam(1e-3, parameters=embed.parameters() + head.parameters() + norm.parameters())
for step in range(3):
    out = head(norm(embed(paddle.randn([16, 6]))))  # WRONG
    #= out = head(norm(embed(paddle.randn([16, 6]))))
    loss = nn.functional.cross_entropy(out, paddle.randint(0, 3, [16]))
    loss.backward()
    opt.step()
    opt.clear_grad()
