"""A static program that an Executor runs; its parameters and gradients are in a scope."""

import numpy as np
import paddle

paddle.enable_static()
try:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 16], "float32")
        y = paddle.static.data("y", [None, 1], "int64")
        hidden = paddle.static.nn.fc(x, 64, activation="relu")
        logits = paddle.static.nn.fc(hidden, 4)
        loss = paddle.nn.functional.cross_entropy(logits, y)
        paddle.optimizer.Adam(1e-3).minimize(loss)
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(startup)
    draw, losses = np.random.default_rng(0), []
    for _ in range(4):
        feed = {
            "x": draw.normal(size=(32, 16)).astype("float32"),
            "y": draw.integers(0, 4, size=(32, 1)),
        }
        (value,) = executor.run(main, feed=feed, fetch_list=[loss])
        losses.append(float(value))
    print(losses)
finally:
    paddle.disable_static()
