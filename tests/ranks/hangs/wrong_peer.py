import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
x = paddle.ones([4])
if rank == 0:
    dist.send(x, 1)  # AT 0
elif rank == 1:
    dist.recv(x, 2)  # AT 1 ODD
elif rank == 2:
    dist.recv(x, 1)  # AT 2
dist.barrier()  # AT 3
