"""The optimizer was made before the head was replaced. AdamW has a way to begin of its own."""
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(2)


class Backbone(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2D(3, 8, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(8 * 36, 100)

    def forward(self, x):
        return self.head(self.body(x))


def build(classes):
    model = Backbone()
    #+ model.head = nn.Linear(8 * 36, classes)
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters(), weight_decay=0.01)
    model.head = nn.Linear(8 * 36, classes)  # WRONG
    return model, optimizer


def fit(model, optimizer, batches):
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        yield float(loss)


batches = [(paddle.rand([16, 3, 6, 6]), paddle.randint(0, 7, [16])) for _ in range(4)]
for value in fit(*build(7), batches):
    print(value)
