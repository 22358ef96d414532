"""The dropout of scaled_dot_product_attention in evaluation.

source: https://github.com/huggingface/transformers/pull/33844
"""
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 3)

    def forward(self, x):
        q, k, v = (part.unsqueeze(2) for part in self.qkv(x).chunk(3, axis=-1))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1)  # WRONG
        #= y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1, training=self.training)
        return self.out(y.squeeze(2).mean(axis=1))


net = Block()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
loss = F.cross_entropy(net(paddle.randn([4, 5, 8])), paddle.randint(0, 3, [4]))
loss.backward()
opt.step()
net.eval()
with paddle.no_grad():
    print(net(paddle.randn([4, 5, 8])).argmax(axis=1).numpy())
