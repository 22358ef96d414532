"""Other threads and worker processes keep running during a trace."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.io import DataLoader, Dataset

import paddle_lab


class Squares(Dataset):
    """Samples made by Paddle ops, in whichever process asks for them."""

    def __getitem__(self, index):
        return np.asarray([index, index**2], dtype="float32")

    def __len__(self):
        return 12


def test_ops_of_another_thread_are_recorded_as_its_own():
    with paddle_lab.trace() as trace:
        here = paddle.ones([2]).exp()
        with ThreadPoolExecutor(1) as pool:
            there = pool.submit(lambda: paddle.ones([2]).tanh()).result()

    assert here.shape == there.shape == [2]
    threads = {op.name: op.thread for op in trace.ops if op.name in {"exp", "tanh"}}
    assert len(set(threads.values())) == 2


def test_threads_at_work_on_the_same_ops_get_the_right_results():
    layers = [nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1)) for _ in range(4)]
    data = paddle.rand([16, 8])

    def gradients(layer):
        for _ in range(10):
            layer.clear_gradients()
            layer(data).sum().backward()
        return [parameter.grad.numpy() for parameter in layer.parameters()]

    plain = [gradients(layer) for layer in layers]
    with paddle_lab.trace() as trace, ThreadPoolExecutor(4) as pool:
        traced = list(pool.map(gradients, layers))

    for one, other in zip(plain, traced, strict=True):
        assert all(map(np.array_equal, one, other))
    assert [op.name for op in trace.ops].count("linear") == 4 * 10 * 2
    for op in trace.ops:
        assert op.layer_class in {"Linear", "Tanh", ""}, op


def test_a_thread_that_runs_across_the_whole_trace_never_notices():
    x = paddle.rand([4, 4])
    expected = (x @ x).tanh().numpy()
    has_begun, is_over = threading.Event(), threading.Event()
    wrong: list[object] = []

    def work():
        while not is_over.is_set():
            try:
                if not np.array_equal((x @ x).tanh().numpy(), expected):
                    wrong.append("other result")
            except BaseException as error:  # noqa: BLE001
                wrong.append(error)
            has_begun.set()

    thread = threading.Thread(target=work)
    thread.start()
    has_begun.wait()
    for _ in range(20):
        with paddle_lab.trace():
            x.exp()
    is_over.set()
    thread.join()

    assert wrong == []


@pytest.mark.parametrize("workers", [0, 2])
def test_a_data_loader_delivers_the_same_batches(workers):
    def batches():
        loader = DataLoader(Squares(), batch_size=4, num_workers=workers, shuffle=False)
        return [batch[0].numpy() if isinstance(batch, list) else batch.numpy() for batch in loader]

    plain = batches()
    with paddle_lab.trace() as trace:
        traced = batches()
        paddle.ones([1]).exp()

    assert all(map(np.array_equal, plain, traced))
    assert len(plain) == 3
    assert [op.name for op in trace.ops][-1] == "exp"


def test_workers_that_were_started_inside_a_trace_outlive_it():
    loader = DataLoader(Squares(), batch_size=4, num_workers=2, persistent_workers=True)
    with paddle_lab.trace():
        inside = [np.asarray(batch[0] if isinstance(batch, list) else batch) for batch in loader]
    outside = [np.asarray(batch[0] if isinstance(batch, list) else batch) for batch in loader]

    assert all(map(np.array_equal, inside, outside))
