import paddle
import paddle.distributed as dist
from paddle import nn

dist.init_parallel_env()
rank = dist.get_rank()


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, drops):
        return self.first(x) if drops else self.second(self.first(x))


net = paddle.DataParallel(Net())
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(2):
    loss = net(paddle.ones([2, 4]), drops=rank == 1 and step == 1).mean()
    loss.backward()  # AT 0 1 2 3 ODD
    optimizer.step()
    optimizer.clear_grad()
dist.barrier()
