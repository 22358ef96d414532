import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
net = paddle.DataParallel(paddle.nn.Linear(4, 4))
scheduler = paddle.optimizer.lr.ReduceOnPlateau(0.1, patience=1)
optimizer = paddle.optimizer.SGD(scheduler, parameters=net.parameters())
for step in range(8):
    net(paddle.ones([2, 4])).mean().backward()
    optimizer.step()  # AT 0 1 2 3 ODD
    optimizer.clear_grad()
    scheduler.step(float(step if rank == 3 else -step))
