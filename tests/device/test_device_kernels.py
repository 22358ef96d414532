"""The kernels of a real GPU, under the ops that launched them."""

from __future__ import annotations

import paddle

import paddle_lab
from tests.device.counted_device import CountedDevice

SIZE = 2048


def test_a_products_kernels_take_the_time_of_the_product(gpu: CountedDevice) -> None:
    matrix = paddle.rand([SIZE, SIZE])
    matrix.stop_gradient = False
    paddle.matmul(matrix, matrix).sum().backward()
    paddle.device.synchronize()
    with paddle_lab.trace(profile=True) as trace:
        product = paddle.matmul(matrix, matrix)
        product.sum().backward()
    record, times = trace.record, trace.record.kernel_times
    assert not record.origin.notices
    ops = {
        record.text(int(record.ops["name"][op])): row
        for row, op in enumerate(times["op"].tolist())
        if op >= 0
    }
    nodes = {
        record.text(int(record.grad_nodes["name"][node])): row
        for row, node in enumerate(times["grad_node"].tolist())
        if node >= 0
    }
    for row in (ops["matmul"], ops["sum"], nodes["MatmulGradNode"], nodes["SumGradNode"]):
        assert times["device_kernels"][row] > 0
        assert times["device_ns"][row] > 0
    # The backward of a product is two products.
    forward_ns, backward_ns = (
        int(times["device_ns"][row]) for row in (ops["matmul"], nodes["MatmulGradNode"])
    )
    assert 1.2 < backward_ns / forward_ns < 4
    assert (times["gap_ns"] >= 0).all()
    # No product is faster than the roofline, but for the noise of both measurements.
    (peak,) = record.rooflines["flops_per_second"].tolist()
    assert record.text(int(record.rooflines["place"][0])) == gpu.name
    assert 0.2 * peak < 2 * SIZE**3 / (forward_ns / 1e9) < 1.5 * peak
    assert product.shape == [SIZE, SIZE]
