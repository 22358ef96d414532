"""Each batch uses the previous hidden state: the second backward reaches a freed graph."""

import paddle


class CharacterModel(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.cells = paddle.nn.GRU(4, 8)
        self.out = paddle.nn.Linear(8, 4)

    def forward(self, x, state):
        hidden, state = self.cells(x, state)  # BUG: graph-kept
        return self.out(hidden), state


paddle.seed(31)
model = CharacterModel()
optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
state = paddle.zeros([1, 2, 8])
for _ in range(3):
    scores, state = model(paddle.randn([2, 5, 4]), state)
    loss = scores.square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
