"""Two evaluations run in threads; one of them takes the logarithm of 0."""

import threading

import paddle

paddle.seed(6)
results = {}


def entropy(name, p):
    logs = paddle.log(p)  # BUG: nan-origin
    results[name] = -(p * logs).sum()


uniform = paddle.full([4], 0.25)
certain = paddle.nn.functional.one_hot(paddle.to_tensor(2), 4)
threads = [
    threading.Thread(target=entropy, args=("uniform", uniform)),
    threading.Thread(target=entropy, args=("certain", certain)),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
