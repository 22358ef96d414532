"""A padded position is zeroed through a detached view of the activations."""

import paddle

paddle.seed(3)
scores = paddle.randn([4, 6])
scores.stop_gradient = False
weights = paddle.nn.functional.softmax(scores * 2.0)
entropy = -(weights * weights.log()).sum()
last = weights.detach()[:, -1]
last.zero_()  # BUG: inplace-modified
entropy.backward()
