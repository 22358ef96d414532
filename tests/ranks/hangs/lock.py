import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
import threading

lock = threading.Lock()
for step in range(3):
    if rank == 3 and step == 1:
        lock.acquire()
        lock.acquire()  # AT 3 ODD
    dist.all_reduce(paddle.ones([2]))  # AT 0 1 2
