"""A generator ends in tanh; its targets lie in 0..255."""
import numpy as np
import paddle
from paddle import nn

paddle.seed(0)
decoder = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 16), nn.Tanh())
opt = paddle.optimizer.Adam(1e-3, parameters=decoder.parameters())
images = np.random.RandomState(0).randint(0, 256, [64, 16]).astype("float32")
#+ images = images / 127.5 - 1.0
for step in range(4):
    code = paddle.randn([16, 4])
    target = paddle.to_tensor(images[16 * step : 16 * step + 16])
    loss = nn.functional.mse_loss(decoder(code), target)  # WRONG
    #= loss = nn.functional.mse_loss(decoder(code), target)
    loss.backward()
    opt.step()
    opt.clear_grad()
