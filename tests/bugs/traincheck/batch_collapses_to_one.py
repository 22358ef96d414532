"""A processor joins all images of a batch into one sample; broadcasting hides it.

source: TrainCheck transformers-34204, https://github.com/huggingface/transformers/issues/34204
"""

import paddle
from paddle import nn

paddle.seed(0)


def process(texts, images):
    """Return token ids and pixels of a batch."""
    ids = paddle.to_tensor([texts[0]])  # WRONG
    #= ids = paddle.to_tensor(texts)
    return ids, paddle.stack(images)


class Pair(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.pixels = nn.Embedding(20, 8), nn.Linear(12, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, ids, pixels):
        mixed = self.words(ids).mean(1) + self.pixels(pixels)  # OR
        return self.head(nn.functional.relu(mixed))


net = Pair()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    texts = paddle.randint(0, 20, [6, 5]).tolist()
    images = [paddle.rand([12]) for _ in range(6)]
    ids, pixels = process(texts, images)  # OR
    loss = nn.functional.cross_entropy(net(ids, pixels), paddle.randint(0, 3, [6]))
    loss.backward()
    opt.step()
    opt.clear_grad()
