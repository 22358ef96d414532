import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
x = paddle.ones([4])
if rank == 1:
    x = x.cast("int32")
dist.all_reduce(x)  # AT 0 1 2 3 ODD
