import os

import paddle
import paddle.distributed as dist
from paddle.distributed import collective

dist.init_parallel_env()
rank = dist.get_rank()
# As in wrong_group.py.
host, port = os.environ["PADDLE_TRAINER_ENDPOINTS"].split(",")[1].split(":")
collective._set_default_store(paddle.base.core.TCPStore(host, int(port), rank == 1, 4, 30))
if rank == 0:
    pair = dist.new_group([0, 2])  # AT 0
dist.barrier()  # AT 1 2 3 ODD
