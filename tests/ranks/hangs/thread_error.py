import queue
import threading

import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
batches = queue.Queue()


def read():
    for number in range(4):
        batches.put(paddle.full([2], 1 / (2 - number if rank == 1 else 1)))


threading.Thread(target=read).start()
for _ in range(4):
    batch = batches.get()  # AT 1 ODD
    dist.all_reduce(batch)  # AT 0 2 3
