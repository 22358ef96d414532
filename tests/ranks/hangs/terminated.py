import os
import signal
import threading
import time

import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
paddle.ones([2]).exp()
if rank == 2:
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGTERM)).start()
    time.sleep(600)  # AT 2 ODD
dist.barrier()  # AT 0 1 3
