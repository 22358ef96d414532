"""One loop for both phases, with `train()` for both: validation changes the statistics.

source: https://github.com/princeton-vl/pytorch_stacked_hourglass/issues/44
"""
import paddle
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Conv2D(1, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for epoch in range(2):
    for phase in ("train", "valid"):
        net.train()  # OR
        #= net.train() if phase == "train" else net.eval()
        for _ in range(2):
            images, points = paddle.rand([4, 1, 8, 8]), paddle.rand([4, 2])
            with paddle.set_grad_enabled(phase == "train"):
                loss = nn.functional.mse_loss(net(images), points)  # WRONG
                #= loss = nn.functional.mse_loss(net(images), points)
            if phase == "train":
                loss.backward()
                opt.step()
                opt.clear_grad()
