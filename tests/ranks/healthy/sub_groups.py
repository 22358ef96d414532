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
some = dist.new_group([0, 1, 2])
for step in range(3):
    x = paddle.full([4], rank, dtype="float32")
    if rank < 3:
        dist.all_reduce(x, group=some)
        dist.broadcast(x, 1, group=some)
    dist.all_reduce(x, dist.ReduceOp.MAX)
    assert float(x[0]) == 3
for source in range(4):
    x = paddle.full([2], rank)
    if rank == source:
        dist.broadcast(x, source)
    else:
        dist.broadcast(x, source)
dist.barrier()
