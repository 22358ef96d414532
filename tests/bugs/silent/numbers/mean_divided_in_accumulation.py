"""Each mean loss of an accumulation is divided by the batch size, too."""
import paddle
import paddle.nn as nn

paddle.seed(47)
model = nn.Sequential(nn.Linear(12, 24), nn.GELU(), nn.Linear(24, 4))
optimizer = paddle.optimizer.SGD(learning_rate=0.1, parameters=model.parameters())
loss_fn = nn.CrossEntropyLoss()
ACCUM, SIZE = 4, 8

for update in range(3):
    total = 0.0
    for micro in range(ACCUM):
        y = paddle.randint(0, 4, [SIZE])
        x = paddle.randn([SIZE, 12]) + y.astype("float32").unsqueeze(1)
        loss = loss_fn(model(x), y)
        loss = loss / (ACCUM * SIZE)  # WRONG
        #= loss = loss / ACCUM
        loss.backward()
        total += loss.item()
    optimizer.step()
    optimizer.clear_grad()
    print(update, total)
