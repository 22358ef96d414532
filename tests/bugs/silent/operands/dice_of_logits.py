"""Segmentation: the Dice loss takes probabilities and is given logits."""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)
net = nn.Sequential(nn.Conv2D(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2D(8, 8, 3, padding=1), nn.ReLU(), nn.Conv2D(8, 1, 1))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())


def dice_loss(pred, target, smooth=1.0):
    pred, target = pred.flatten(1), target.flatten(1)
    inter = (pred * target).sum(axis=1)  # OR
    return (1 - (2 * inter + smooth) / (pred.sum(axis=1) + target.sum(axis=1) + smooth)).mean()  # OR


for step in range(4):
    x = paddle.rand([4, 1, 16, 16])
    mask = (x > 0.7).astype("float32")
    out = net(x)
    loss = dice_loss(out, mask)  # WRONG
    #= loss = dice_loss(F.sigmoid(out), mask)
    loss.backward()
    opt.step()
    opt.clear_grad()
