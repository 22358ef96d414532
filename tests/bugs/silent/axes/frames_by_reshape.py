# PKU-YuanGroup/Open-Sora-Plan#171: [B, C, T, H, W] is reshaped to [B T, C, H W] without a transpose
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(16)


class AttnBlock3D(nn.Layer):
    def __init__(self, c=8):
        super().__init__()
        self.norm = nn.GroupNorm(4, c)
        self.q, self.k, self.v, self.o = (nn.Conv3D(c, c, 1) for _ in range(4))

    def forward(self, x):
        h = self.norm(x)
        q, k, v = self.q(h), self.k(h), self.v(h)
        b, c, t, hh, ww = q.shape
        q = q.reshape([b * t, c, hh * ww])  # WRONG
        #= q = q.transpose([0, 2, 1, 3, 4]).reshape([b * t, c, hh * ww])
        k = k.transpose([0, 2, 1, 3, 4]).reshape([b * t, c, hh * ww])
        v = v.transpose([0, 2, 1, 3, 4]).reshape([b * t, c, hh * ww])
        w = F.softmax(q.transpose([0, 2, 1]) @ k * c**-0.5, axis=2)
        out = (v @ w.transpose([0, 2, 1])).reshape([b, t, c, hh, ww]).transpose([0, 2, 1, 3, 4])
        return x + self.o(out)


net = nn.Sequential(nn.Conv3D(3, 8, 3, padding=1), AttnBlock3D(), nn.Conv3D(8, 3, 3, padding=1))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(3):
    video = paddle.rand([2, 3, 3, 6, 6])
    loss = F.l1_loss(net(video + 0.1 * paddle.randn(video.shape)), video)
    loss.backward()
    opt.step()
    opt.clear_grad()
