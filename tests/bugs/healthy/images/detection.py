"""Detection: anchors matched without gradients, masked losses, non-maximum suppression."""

import paddle
from paddle import nn
from paddle.nn import functional as F
from paddle.vision.ops import nms, roi_align


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(3, 8, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2D(8, 16, 3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.scores, self.boxes = nn.Conv2D(16, 1, 1), nn.Conv2D(16, 4, 1)
        self.classes = nn.Linear(16 * 4, 3)

    def forward(self, x):
        h = self.body(x)
        scores = self.scores(h).flatten(1)
        return h, scores, self.boxes(h).flatten(2).transpose([0, 2, 1])


def overlap(a, b):
    low, high = paddle.maximum(a[:, None, :2], b[:, :2]), paddle.minimum(a[:, None, 2:], b[:, 2:])
    both = (high - low).clip(min=0).prod(-1)
    areas = [(one[:, 2:] - one[:, :2]).prod(-1) for one in (a, b)]
    return both / (areas[0][:, None] + areas[1] - both)


paddle.seed(44)
net = Net()
optimizer = paddle.optimizer.Momentum(1e-2, parameters=net.parameters())
centers = (
    paddle.stack(paddle.meshgrid(paddle.arange(8.0), paddle.arange(8.0)), -1).reshape([-1, 2]) * 4
)
anchors = paddle.concat([centers - 4, centers + 4], -1)
for _ in range(3):
    corner = paddle.rand([3, 2]) * 20
    truth, labels = paddle.concat([corner, corner + 8], -1), paddle.randint(0, 3, [3])
    features, scores, shifts = net(paddle.rand([1, 3, 32, 32]))
    with paddle.no_grad():
        values = overlap(anchors, truth)
        best, match = values.max(1), values.argmax(1)
        positive = best > paddle.minimum(best.max(), paddle.to_tensor(0.3)) - 1e-6
        wanted = (truth[match] - anchors) / 8
    loss = F.binary_cross_entropy_with_logits(scores[0], positive.astype("float32"))
    loss = loss + F.smooth_l1_loss(shifts[0][positive], wanted[positive])
    parts = roi_align(features, truth, paddle.to_tensor([3], dtype="int32"), 2, spatial_scale=0.25)
    loss = loss + F.cross_entropy(net.classes(parts.flatten(1)), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
with paddle.no_grad():
    _, scores, shifts = net(paddle.rand([1, 3, 32, 32]))
    kept = nms(anchors + shifts[0] * 8, 0.5, F.sigmoid(scores[0]))
    print(kept[:5])
