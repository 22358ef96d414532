import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
x = paddle.full([4], rank)
dist.barrier()
dist.reduce(x, 2 if rank == 3 else 0)  # AT 0 1 2 3 ODD
dist.barrier()
