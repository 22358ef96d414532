import paddle
import paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
embed, score, head = nn.Linear(6, 16), nn.Linear(16, 1), nn.Linear(16, 2)
opt = paddle.optimizer.Adam(1e-3, parameters=[p for l in (embed, score, head) for p in l.parameters()])
for step, size in enumerate((5, 1, 7, 3)):
    bag = F.relu(embed(paddle.randn([size, 6])))
    weights = F.softmax(score(bag), axis=0)
    logits = head((weights * bag).sum(axis=0, keepdim=True))
    F.cross_entropy(logits, paddle.randint(0, 2, [1])).backward()
    opt.step()
    opt.clear_grad()
