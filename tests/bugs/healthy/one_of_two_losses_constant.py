"""One of two losses has nothing to learn from; the other does, and a leaf is its own loss."""

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
