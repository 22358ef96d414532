import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
net = paddle.nn.Sequential(paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 4))
net(paddle.ones([2, 4])).mean().backward()
for layer in reversed(list(net)) if rank == 2 else net:
    dist.all_reduce(layer.weight.grad)  # AT 0 1 2 3 ODD
