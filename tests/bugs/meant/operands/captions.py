# A caption has as many tokens as its image has patches: attention to patches needs no mask.
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)


class Captions(nn.Layer):
    def __init__(self):
        super().__init__()
        self.patches, self.token, self.head = (
            nn.Linear(12, 16),
            nn.Embedding(30, 16),
            nn.Linear(16, 30),
        )
        self.encoder = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0)
        self.decoder = nn.TransformerDecoderLayer(16, 2, 32, dropout=0.0)

    def forward(self, patches, ids):
        mask = paddle.triu(paddle.full([ids.shape[1]] * 2, -1e9), 1)
        memory = self.encoder(self.patches(patches))
        return self.head(self.decoder(self.token(ids), memory, tgt_mask=mask))


net = Captions()
opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for step in range(4):
    patches, ids = paddle.randn([6, 9, 12]), paddle.randint(0, 30, [6, 10])
    loss = F.cross_entropy(net(patches, ids[:, :-1]), ids[:, 1:])
    loss.backward()
    opt.step()
    opt.clear_grad()
