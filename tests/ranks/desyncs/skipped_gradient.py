import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
trunk, head = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 1)
parameters = [*trunk.parameters(), *head.parameters()]
optimizer = paddle.optimizer.SGD(0.1, parameters=parameters)
for parameter in parameters:
    dist.broadcast(parameter, 0)
for step in range(3):
    hidden = trunk(paddle.ones([2, 4]))
    if rank == 2 and step == 1:
        hidden = hidden.detach()
    head(hidden).mean().backward()  # AT 0 1 2 3 ODD
    for parameter in parameters:
        dist.all_reduce(parameter.grad)
    optimizer.step()
    optimizer.clear_grad()
