import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
for step in range(3):
    first, second = paddle.full([2], step), paddle.full([2], 10 + step)
    if rank != 2:
        dist.all_reduce(first)  # AT 0 1 3
    dist.all_reduce(second)  # AT 2 ODD
