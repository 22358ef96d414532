import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
trunk, head = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 1)
parameters = [*trunk.parameters(), *head.parameters()]
for parameter in parameters:
    dist.broadcast(parameter, 0)
trunk.weight.stop_gradient = rank == 1
optimizer = paddle.optimizer.SGD(0.1, parameters=parameters)
for _ in range(2):
    head(trunk(paddle.ones([2, 4]))).mean().backward()  # AT 0 1 2 3 ODD
    for parameter in parameters:
        grad = paddle.zeros_like(parameter) if parameter.grad is None else parameter.grad
        dist.all_reduce(grad)
    optimizer.step()
    optimizer.clear_grad()
