import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
for step in range(3):
    x = paddle.ones([2])
    op = dist.ReduceOp.MAX if rank == 1 and step else dist.ReduceOp.SUM
    dist.all_reduce(x, op)  # AT 0 1 2 3 ODD
