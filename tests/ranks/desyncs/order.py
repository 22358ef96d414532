import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
first, second = paddle.ones([4]), paddle.zeros([4])
if rank == 2:
    dist.all_reduce(second)  # AT 2 ODD
    dist.all_reduce(first)
else:
    dist.all_reduce(first)  # AT 0 1 3
    dist.all_reduce(second)
