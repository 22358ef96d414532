import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
paddle.seed(rank)
column, row = paddle.nn.Linear(8, 4), paddle.nn.Linear(4, 8, bias_attr=False)
inner, outer = paddle.nn.Dropout(0.3), paddle.nn.Dropout(0.3)
for step in range(2):
    h = row(inner(column(paddle.ones([2, 8]))))  # each rank has columns of its own
    dist.all_reduce(h)
    own = paddle.get_rng_state()
    paddle.seed(step)
    y = outer(h)
    paddle.set_rng_state(own)
