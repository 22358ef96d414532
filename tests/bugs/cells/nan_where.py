"""where() masks the NaN in the loss, but not in the gradient."""

import paddle


@paddle.no_grad()
def make_data():
    return paddle.linspace(-2.0, 2.0, 9)


x = make_data()
x.stop_gradient = False
root = paddle.sqrt(x)  # BUG: nan-origin
safe = paddle.where(x > 0, root, paddle.zeros_like(x))
total = safe.sum()
(grad,) = paddle.grad(total, [x])
print(grad)
