"""NCHW to NHWC by reshape."""
import paddle
from paddle import nn

paddle.seed(0)
conv, norm, head = nn.Conv2D(3, 8, 3, padding=1), nn.LayerNorm(8), nn.Linear(8, 4)
params = [p for layer in (conv, norm, head) for p in layer.parameters()]
opt = paddle.optimizer.Adam(1e-3, parameters=params)
for step in range(4):
    x, y = paddle.randn([4, 3, 6, 6]), paddle.randint(0, 4, [4])
    features = conv(x)
    features = features.reshape([4, 6, 6, 8])  # WRONG
    #= features = features.transpose([0, 2, 3, 1])
    logits = head(norm(features).mean(axis=[1, 2]))
    loss = nn.functional.cross_entropy(logits, y)
    loss.backward()
    opt.step()
    opt.clear_grad()
