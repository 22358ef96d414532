import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
told = []
dist.all_gather_object(told, {"rank": rank, "name": "x" * (10 * rank + 1)})
assert [one["rank"] for one in told] == [0, 1, 2, 3]
given = [{"lr": 0.1}, "text"] if rank == 0 else [None, None]
dist.broadcast_object_list(given, 0)
assert given[1] == "text"
mine = []
dist.scatter_object_list(mine, [[one] for one in range(4)] if rank == 0 else None, 0)
assert mine == [[rank]]
dist.barrier()
