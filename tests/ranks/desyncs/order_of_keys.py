import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
metrics = {name: paddle.full([2], rank) for name in ("loss", "accuracy", "entropy")}
keys = list(metrics)
for key in keys[rank == 2 :] + keys[: rank == 2]:
    dist.all_reduce(metrics[key])  # AT 0 1 2 3 ODD
