"""A closure keeps every prediction that it has returned."""

import paddle


def remembering(model):
    seen = []

    def predict(batch):
        with paddle.no_grad():
            answer = paddle.nn.functional.softmax(model(batch))  # BUG: leaked-tensor
        seen.append(answer)
        return answer.argmax(axis=-1)

    return predict


paddle.seed(43)
predict = remembering(paddle.nn.Linear(16, 64))
for _ in range(5):
    predict(paddle.randn([32, 16]))
