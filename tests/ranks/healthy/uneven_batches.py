import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
paddle.seed(1)
net = paddle.nn.Linear(8, 1)
optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())
batches = [paddle.randn([4 - (rank == 3), 8]) for _ in range(2 + (rank == 0) + (rank < 2))]
step = 0
while True:
    active = paddle.to_tensor([float(step < len(batches))])
    dist.all_reduce(active)
    if float(active) == 0:
        break
    if step < len(batches):
        net(batches[step]).square().sum().backward()
        for parameter in net.parameters():
            dist.all_reduce(parameter.grad)
    else:
        for parameter in net.parameters():
            parameter.grad = paddle.zeros(parameter.shape)
            dist.all_reduce(parameter.grad)
    for parameter in net.parameters():
        parameter.grad = parameter.grad / float(active)
    optimizer.step()
    optimizer.clear_grad()
    step += 1
