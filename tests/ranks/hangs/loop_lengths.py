import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
for step in range(2 if rank == 1 else 3):
    dist.all_reduce(paddle.ones([2]))  # AT 0 2 3
dist.barrier()  # AT 1 ODD
