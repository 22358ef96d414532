"""The accuracy stays near one half for any prediction."""

import paddle

paddle.seed(11)
classifier = paddle.nn.Linear(5, 1)
inputs, labels = paddle.randn([20, 5]), paddle.randint(0, 2, [20])
with paddle.no_grad():
    predicted = (classifier(inputs) > 0).astype("int64")
    accuracy = (predicted == labels).astype("float32").mean()  # BUG: broadcast-surprise
