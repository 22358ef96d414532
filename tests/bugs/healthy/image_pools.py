"""Two generators and two discriminators, which also get images of earlier steps from a pool."""

import itertools
import random

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(59)
random.seed(59)


def generator():
    return nn.Sequential(nn.Conv2D(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2D(8, 3, 3, padding=1))


def discriminator():
    return nn.Sequential(nn.Conv2D(3, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2D(8, 1, 4, 2, 1))


class Pool:
    def __init__(self, size=4):
        self.size, self.images = size, []

    def query(self, image):
        image = image.detach()
        if len(self.images) < self.size:
            self.images.append(image)
            return image
        if random.random() > 0.5:
            at = random.randrange(self.size)
            self.images[at], image = image, self.images[at]
        return image


def set_trained(layers, trained):
    for parameter in itertools.chain(*(layer.parameters() for layer in layers)):
        parameter.stop_gradient = not trained


def distance(scores, goal):
    return F.mse_loss(scores, paddle.full_like(scores, goal))


to_b, to_a, judge_a, judge_b = generator(), generator(), discriminator(), discriminator()
makers = paddle.optimizer.Adam(2e-4, parameters=to_b.parameters() + to_a.parameters())
judges = paddle.optimizer.Adam(2e-4, parameters=judge_a.parameters() + judge_b.parameters())
pool_a, pool_b = Pool(), Pool()
for _ in range(7):
    a, b = paddle.rand([1, 3, 16, 16]), paddle.rand([1, 3, 16, 16])
    set_trained([judge_a, judge_b], False)
    fake_b, fake_a = to_b(a), to_a(b)
    loss = distance(judge_b(fake_b), 1) + distance(judge_a(fake_a), 1)
    loss = loss + 10 * (F.l1_loss(to_a(fake_b), a) + F.l1_loss(to_b(fake_a), b))
    makers.clear_grad()
    loss.backward()
    makers.step()
    set_trained([judge_a, judge_b], True)
    judges.clear_grad()
    for judge, real, pool, fake in ((judge_a, a, pool_a, fake_a), (judge_b, b, pool_b, fake_b)):
        (distance(judge(real), 1) + distance(judge(pool.query(fake)), 0)).backward()
    judges.step()
