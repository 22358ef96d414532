"""Two losses of one network: the step for the first changes weights that the second has saved."""

import paddle

paddle.seed(7)
shared = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 2))
optimizer = paddle.optimizer.Adam(0.01, parameters=shared.parameters())
features = paddle.randn([5, 4])
reconstruction = shared(features).square().mean()
contrast = shared(features + 1.0).abs().mean()
reconstruction.backward()
optimizer.step()  # BUG: inplace-modified
optimizer.clear_grad()
contrast.backward()
optimizer.step()
optimizer.clear_grad()
