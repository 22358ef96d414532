import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
paddle.seed(rank)
column, row = paddle.nn.Linear(8, 4), paddle.nn.Linear(4, 8, bias_attr=False)
drop = paddle.nn.Dropout(0.3)
for step in range(2):
    h = row(column(paddle.ones([2, 8])))
    dist.all_reduce(h)
    y = drop(h)  # AT 0 1 2 3 ODD
