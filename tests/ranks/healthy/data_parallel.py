import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
paddle.seed(rank)
net = paddle.DataParallel(
    paddle.nn.Sequential(paddle.nn.Linear(8, 8), paddle.nn.Dropout(0.5), paddle.nn.Linear(8, 1))
)
optimizer = paddle.optimizer.AdamW(0.01, parameters=net.parameters())
for step in range(6):
    loss = net(paddle.randn([4, 8])).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    mean = loss.detach().clone()
    dist.all_reduce(mean)
if rank == 0:
    print(float(mean))
