# One image as [rows, columns, features]: positions of both axes are added, and attention along the
# columns and then along the rows takes the other axis as its batch. Then a table whose cut is turned
# to [1, time, features].
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)


def sines(longest, width):
    angles = paddle.arange(longest).astype("float32").unsqueeze(1) / 10 ** paddle.linspace(0, 4, 8)
    return paddle.concat([paddle.sin(angles), paddle.cos(angles)], axis=1)


class Axial(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(3, 16)
        self.register_buffer("rows", sines(32, 16).unsqueeze(1))
        self.register_buffer("columns", sines(32, 16).unsqueeze(0))
        self.along_columns, self.along_rows = (
            nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0) for _ in range(2)
        )
        self.head = nn.Linear(16, 2)

    def forward(self, image):
        x = self.stem(image)
        x = x + self.rows[: x.shape[0]] + self.columns[:, : x.shape[1]]
        x = self.along_columns(x)
        return self.head(self.along_rows(x.transpose([1, 0, 2])).transpose([1, 0, 2]))


class Turned(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stem, self.head = nn.Linear(3, 16), nn.Linear(16, 2)
        self.register_buffer("pe", sines(32, 16).unsqueeze(1))
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0)

    def forward(self, x):
        return self.head(self.layer(self.stem(x) + self.pe[: x.shape[1]].transpose([1, 0, 2])))


for net in (Axial(), Turned()):
    opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    for step in range(3):
        image = paddle.randn([10, 12, 3])
        loss = F.cross_entropy(net(image), (image.sum(-1) > 0).astype("int64"))
        loss.backward()
        opt.step()
        opt.clear_grad()
