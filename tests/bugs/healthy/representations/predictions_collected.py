"""Features and predictions of a whole data set, collected in lists for scores at the end."""

import numpy as np
import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(37)
net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
head = net[2]
features, scores, labels, tables = [], [], [], {}
net.eval()
with paddle.no_grad():
    for number in range(6):
        x, y = paddle.randn([64, 32]), paddle.randint(0, 10, [64])
        hidden = net[1](net[0](x))
        features.append(hidden)
        scores.append(F.softmax(head(hidden), -1))
        labels.append(y)
        tables[number] = hidden.mean(0).numpy()
features, scores, labels = map(paddle.concat, (features, scores, labels))
metric = paddle.metric.Accuracy()
metric.update(metric.compute(scores, labels.unsqueeze(1)))
print(metric.accumulate(), features.shape, np.stack(list(tables.values())).shape)

probe = nn.Linear(64, 10)
optimizer = paddle.optimizer.LBFGS(1.0, max_iter=3, parameters=probe.parameters())


def closure():
    optimizer.clear_grad()
    loss = F.cross_entropy(probe(features), labels)
    loss.backward()
    return loss


optimizer.step(closure)
