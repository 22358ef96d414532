import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
paddle.seed(rank)
net = paddle.DataParallel(paddle.nn.Linear(8, 1))
optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
for step in range(4):
    with net.no_sync():
        for _ in range(2):
            net(paddle.randn([4, 8])).square().mean().backward()
    net(paddle.randn([4, 8])).square().mean().backward()
    optimizer.step()
    optimizer.clear_grad()
