"""An augmentation makes its generator anew for each batch: the noise is the same."""
import numpy as np
import paddle
from paddle import nn

paddle.seed(12)


class Augment:
    """Noise and a shift in time."""

    def __init__(self, level=0.4, seed=0):
        self.level, self.seed = level, seed
        self.rng = np.random.RandomState(seed)

    def __call__(self, wave):
        rng = np.random.RandomState(self.seed)  # WRONG
        #= rng = self.rng
        noise = rng.randn(*wave.shape).astype("float32")
        return wave + self.level * paddle.to_tensor(noise)  # OR


net = nn.Sequential(
    nn.Conv1D(1, 8, 9, stride=4), nn.ReLU(), nn.Conv1D(8, 16, 5, stride=2), nn.ReLU(),
    nn.AdaptiveAvgPool1D(1), nn.Flatten(), nn.Linear(16, 3),
)
augment = Augment()
opt = paddle.optimizer.Adam(3e-3, parameters=net.parameters())
pick = np.random.default_rng(12)
for step in range(8):
    y = pick.integers(0, 3, 12)
    clean = np.sin(np.arange(128)[None, None] * (0.1 + 0.2 * y[:, None, None])).astype("float32")
    clean = clean * pick.uniform(0.5, 1.5, (12, 1, 1)).astype("float32")
    loss = nn.functional.cross_entropy(net(augment(paddle.to_tensor(clean))), paddle.to_tensor(y))
    loss.backward()
    opt.step()
    opt.clear_grad()
    print(step, loss.item())
