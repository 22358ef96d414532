"""Models trained at the same time, each in a thread: their steps overlap."""

import threading

import paddle


def train(model: paddle.nn.Layer) -> None:
    optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
    for _ in range(6):
        loss = model(paddle.rand([8, 16])).square().mean()
        loss.backward()
        meeting.wait()  # none is done before another has begun
        optimizer.step()
        optimizer.clear_grad()


paddle.seed(7)
meeting = threading.Barrier(4)
models = [
    paddle.nn.Sequential(paddle.nn.Linear(16, 16), paddle.nn.Tanh(), paddle.nn.Linear(16, 1))
    for _ in range(4)
]
threads = [threading.Thread(target=train, args=[model]) for model in models]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
