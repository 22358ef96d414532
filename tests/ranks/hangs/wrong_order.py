import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
first, second = paddle.ones([4]), paddle.ones([4])
if rank == 1:
    dist.broadcast(second, 0)  # AT 1 ODD
    dist.all_reduce(first)
else:
    dist.all_reduce(first)  # AT 0 2 3
    dist.broadcast(second, 0)
