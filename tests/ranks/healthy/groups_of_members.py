import os

import paddle
import paddle.distributed as dist
from paddle.distributed import collective

dist.init_parallel_env()
rank = dist.get_rank()
# Each pair creates its own group, and both groups have the same number. Each has its own store, as
# in sub_groups.py.
first = rank // 2 * 2
host, port = os.environ["PADDLE_TRAINER_ENDPOINTS"].split(",")[first + 1].split(":")
store = paddle.base.core.TCPStore(host, int(port), rank == first + 1, 2, 30)
collective._set_default_store(store)
pair = dist.new_group([first, first + 1])
for step in range(3):
    x = paddle.full([4], rank, dtype="float32")
    dist.all_reduce(x, group=pair)
    assert float(x[0]) == 2 * first + 1
dist.barrier()
