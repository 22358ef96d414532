import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
import time


class Slow(paddle.io.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        if rank == 2 and index == 2:
            time.sleep(600)
        return paddle.ones([2]).numpy()


for (batch,) in paddle.io.DataLoader(Slow(), batch_size=1, num_workers=1):  # AT 2 ODD
    dist.all_reduce(batch)  # AT 0 1 3
