import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
loss = paddle.ones([2])
for step in range(3):
    if rank != 2 or step < 2:
        dist.all_reduce(loss)  # AT 0 1 3
    loss = loss * 2
dist.barrier()  # AT 2 ODD
