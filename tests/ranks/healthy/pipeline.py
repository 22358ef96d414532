import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
paddle.seed(rank)
# Two pipelines of two stages: gloo matches messages by how many calls each rank has made.
stage, is_first = paddle.nn.Linear(8 + rank % 2, 9 + rank % 2), rank % 2 == 0
optimizer = paddle.optimizer.SGD(0.01, parameters=stage.parameters())
for step in range(3):
    if is_first:
        y = stage(paddle.randn([4, 8]))
        dist.send(y, rank + 1)
        grad = paddle.empty([4, 9])
        dist.recv(grad, rank + 1)
        y.backward(grad)
    else:
        x = paddle.empty([4, 9])
        dist.recv(x, rank - 1)
        x.stop_gradient = False
        stage(x).square().mean().backward()
        dist.send(x.grad, rank - 1)
    optimizer.step()
    optimizer.clear_grad()
dist.barrier()  # rank 0 keeps the store that the others connect to
