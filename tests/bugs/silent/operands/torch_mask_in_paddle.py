"""In PyTorch, True masks a key; in Paddle's attention, True keeps it: only padding is kept.

source: https://github.com/PaddlePaddle/Paddle/issues/55254
"""
import paddle
from paddle import nn

paddle.seed(0)
words, head = nn.Embedding(20, 8), nn.Linear(8, 3)
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 1)
parameters = words.parameters() + encoder.parameters() + head.parameters()
opt = paddle.optimizer.Adam(1e-3, parameters=parameters)
for step in range(4):
    ids = paddle.randint(1, 20, [4, 6])
    ids[:, 4:] = 0
    mask = (ids == 0).unsqueeze([1, 2])  # OR
    #= mask = (ids != 0).unsqueeze([1, 2])
    hidden = encoder(words(ids), mask)  # WRONG
    #= hidden = encoder(words(ids), mask)
    loss = nn.functional.cross_entropy(head(hidden.mean(1)), paddle.randint(0, 3, [4]))
    loss.backward()
    opt.step()
    opt.clear_grad()
