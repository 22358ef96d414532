"""What a page gets when it asks for values."""

from __future__ import annotations

import io

import numpy as np
import paddle

import paddle_lab
from paddle_lab.value_answers import ValueAnswers


def on(_done, _of):
    return True


def test_values_their_difference_and_their_file():
    with paddle_lab.trace(replay=True) as trace:
        a = paddle.arange(6, dtype="float32").reshape([2, 3])
        b = a * 2
        c = a > 1
        b.sum()
    kept_a, kept_b, kept_c = a.numpy(), b.numpy(), c.numpy()
    ops = {op.name: op.key for op in trace.ops}
    names = ("reshape", "multiply" if "multiply" in ops else "scale", "greater_than", "sum")
    one, two, mask, total = (["op", ops[name], 0, -1] for name in names)
    answers = ValueAnswers(trace)

    def ask(*subjects, **more):
        return answers.answer({"subjects": subjects, "position": [], **more}, on)

    told, buffers = ask(one, two)
    shown = [np.frombuffer(part).reshape(2, 3) for part in buffers[::2]]
    for found, kept in zip(shown, (kept_a, kept_b, kept_a - kept_b), strict=True):
        assert np.array_equal(found, kept)
    assert [part["shape"] for part in told["parts"]] == [[2, 3]] * 3
    assert told["parts"][0]["line"] == f"trace.value({one[1]})"
    assert len(ask(one, total)[0]["parts"]) == 2  # their shapes differ
    (file,) = ask(mask, file=True)[1]
    assert np.array_equal(np.load(io.BytesIO(file)), kept_c)
    assert len(answers.kept) == 1
    paired = ask(mask, two)[0]["parts"]
    assert (paired[0]["dtype"], paired[2]["dtype"]) == ("bool", "float64")
    assert len(answers.kept) == 3
    # The same values once more run nothing.
    assert answers.answer({"subjects": [mask, two], "position": []}, lambda *_: False)[1]
    # A value of another trace frees these values.
    ValueAnswers(trace).answer({"subjects": [one], "position": []}, on)
    assert not answers.kept


def test_a_gradient_and_a_cancelled_value():
    x = paddle.ones([3])
    x.stop_gradient = False
    with paddle_lab.trace(replay=True) as trace:
        (x * x).sum().backward()
    nodes = trace.graph("backward").nodes(data=True)
    leaf = next(key for key, data in nodes if data["name"] == "GradNodeAccumulation")
    answers = ValueAnswers(trace)
    question = {"subjects": [["grad_node", leaf, 0, -1]], "position": []}
    told = []

    def stop(done, of):
        told.append((done, of))
        return len(told) < 2

    assert answers.answer(question, stop)[0] == {"error": "Cancelled."}
    assert told[1] == (1, told[0][1])
    (heat, _) = answers.answer(question, on)[1]
    assert np.frombuffer(heat).tolist() == [2, 2, 2]
