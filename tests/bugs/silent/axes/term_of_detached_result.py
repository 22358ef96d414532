# jolibrain/joliGEN#20: the semantic loss is computed on a detached image, so it does not train the generator
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(16)
generator = nn.Sequential(nn.Conv2D(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2D(8, 3, 3, padding=1), nn.Tanh())
segmenter = nn.Sequential(nn.Conv2D(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2D(8, 5, 1))
for p in segmenter.parameters():
    p.stop_gradient = True
opt = paddle.optimizer.Adam(2e-4, parameters=generator.parameters())
for step in range(4):
    real, label = paddle.rand([2, 3, 12, 12]) * 2 - 1, paddle.randint(0, 5, [2, 12, 12])
    fake = generator(real)
    semantic = F.cross_entropy(segmenter(fake.detach()), label, axis=1)  # WRONG
    #= semantic = F.cross_entropy(segmenter(fake), label, axis=1)
    loss = F.l1_loss(fake, real) + semantic  # OR
    loss.backward()
    opt.step()
    opt.clear_grad()
