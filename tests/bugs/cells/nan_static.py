"""The ops inside a static program are not seen, so the finding names the call."""

import paddle


@paddle.jit.to_static
def log_likelihood(p):
    return paddle.log(p) * p


logits = paddle.to_tensor([[1.0, -3.0], [0.5, 0.5]], stop_gradient=False)
p = paddle.nn.functional.relu(logits)
ll = log_likelihood(p)  # BUG: nan-origin
loss = -ll.sum()
loss.backward()
