import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
paddle.seed(rank)
net = paddle.nn.Linear(4, 4)
optimizer = paddle.optimizer.Adam(0.1, parameters=net.parameters())
for step in range(3):
    net(paddle.ones([2, 4])).mean().backward()
    for parameter in net.parameters():
        dist.all_reduce(parameter.grad)
    optimizer.step()  # AT 0 1 2 3 ODD
    optimizer.clear_grad()
