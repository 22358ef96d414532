import os

import paddle
import paddle.distributed as dist
from paddle.distributed import collective

dist.init_parallel_env()
rank = dist.get_rank()
# gloo finds the ranks of a group by keys of a store that are the same for all groups of Paddle 3.3,
# so each group gets a store of its own here.
host, port = os.environ["PADDLE_TRAINER_ENDPOINTS"].split(",")[1].split(":")
collective._set_default_store(paddle.base.core.TCPStore(host, int(port), rank == 1, 4, 30))
pair = dist.new_group([0, 1])
x = paddle.ones([4])
if rank == 1:
    dist.all_reduce(x)  # AT 1 ODD
elif rank == 0:
    dist.all_reduce(x, group=pair)  # AT 0
dist.barrier()  # AT 2 3
