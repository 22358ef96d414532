"""A function does one step, but clears the gradients of the wrong object."""

import copy

import paddle


def update(model, average, optimizer, batch):
    prediction = model(batch)
    (prediction - batch).abs().mean().backward()
    optimizer.step()  # BUG: gradient-not-cleared
    average.clear_gradients()


paddle.seed(25)
model = paddle.nn.Linear(4, 4)
average = copy.deepcopy(model)
optimizer = paddle.optimizer.RMSProp(0.01, parameters=model.parameters())
for _ in range(3):
    update(model, average, optimizer, paddle.randn([2, 4]))
