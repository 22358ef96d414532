import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
for step in range(3):
    x = paddle.ones([2])
    if rank == 3 and step == 1:
        raise ValueError("no such file")  # AT 3 ODD
    dist.all_reduce(x)  # AT 0 1 2
