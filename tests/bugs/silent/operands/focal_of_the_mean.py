# kaggle.com/code/bigironsphere/loss-function-library-keras-pytorch: its focal loss takes the mean
# of the binary cross entropy first.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(7)


class FocalLoss(nn.Layer):
    def forward(self, logits, targets, alpha=0.8, gamma=2):
        logits, targets = logits.flatten(), targets.flatten()
        bce = F.binary_cross_entropy_with_logits(logits, targets, reduction="mean")  # WRONG
        #= bce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
        bce_exp = paddle.exp(-bce)  # OR
        #= bce_exp = paddle.exp(-bce)
        focal = alpha * (1 - bce_exp) ** gamma * bce  # OR
        #= focal = (alpha * (1 - bce_exp) ** gamma * bce).mean()
        return focal


net = nn.Sequential(nn.Conv2D(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2D(8, 1, 1))
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
criterion = FocalLoss()
for step in range(4):
    images = paddle.randn([4, 1, 12, 12])
    masks = (images > 1.5).astype("float32")
    loss = criterion(net(images), masks)
    loss.backward()
    opt.step()
    opt.clear_grad()
