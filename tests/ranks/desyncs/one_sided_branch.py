import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.trunk = paddle.nn.Linear(4, 4)
        self.extra = paddle.nn.Linear(4, 4)

    def forward(self, x):
        x = self.trunk(x)
        return self.extra(x) if rank == 1 else x


net = paddle.DataParallel(Net())
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    net(paddle.ones([2, 4])).mean().backward()  # AT 0 1 2 3 ODD
    optimizer.step()
    optimizer.clear_grad()
