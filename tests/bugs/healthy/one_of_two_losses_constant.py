"""One of two losses has no graph, but the other has; and a leaf is a loss itself."""

import paddle

paddle.seed(0)
layer = paddle.nn.Linear(3, 1)
optimizer = paddle.optimizer.SGD(parameters=layer.parameters())
learned = layer(paddle.randn([4, 3])).mean()
constant = paddle.ones([2]).sum()
paddle.autograd.backward([learned, constant])
optimizer.step()
optimizer.clear_grad()

leaf = paddle.ones([1])
leaf.stop_gradient = False
leaf.backward()
