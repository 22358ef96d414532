"""Maps that are flattened rightly: features by position, one pixel, channels last, and rows of maps."""
import paddle
from paddle import nn
import paddle.nn.functional as F
conv = nn.Conv2D(3, 4, 1, bias_attr=False); last = nn.Conv2D(3, 4, 1, data_format="NHWC", bias_attr=False)
fc = nn.Linear(4, 2); fc64 = nn.Linear(64, 2); fc16 = nn.Linear(16, 2)
opt = paddle.optimizer.Adam(1e-3, parameters=[*conv.parameters(), *last.parameters(), *fc.parameters(), *fc64.parameters(), *fc16.parameters()])
for step in range(3):
    x = paddle.randn([4, 3, 4, 4])
    h = conv(x)
    a = fc64(h.reshape([4, 64])); b = fc16(h.reshape([-1, 16])).mean(); c = fc(F.adaptive_avg_pool2d(h, 1).reshape([-1, 4]))
    d = fc(last(x.transpose([0, 2, 3, 1])).reshape([-1, 4])).mean(); e = fc(h.reshape([-1, 4])).mean()
    f = fc(F.interpolate(h, scale_factor=2).transpose([0, 2, 3, 1]).reshape([-1, 4])).mean()
    loss = F.cross_entropy(a + c, paddle.randint(0, 2, [4])) + b + d + e + f
    loss.backward(); opt.step(); opt.clear_grad()
