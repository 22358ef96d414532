"""Kernels in a GPU profiler's events, from a stand-in, because test machines have no GPU.

The tree follows Paddle's source (``event_node.cc``, ``event_python.cc``): CUPTI's runtime calls are
in the innermost host event that contains them, with the kernels and copies of the same correlation
id. ``tests/device/test_device_kernels.py`` tests the same on a real GPU.
"""

from __future__ import annotations

from types import SimpleNamespace

from paddle.base.core import TracerEventType

from paddle_lab.capture.memory.log.reading import read_kernel_segments
from paddle_lab.capture.memory.log.segments import ClockReading, Segment

THREAD = 7
KERNEL, MEMCPY = TracerEventType.Kernel, TracerEventType.Memcpy


def stand_in(name, kind, start_ns, end_ns, *children, launches=()):
    """Make one of Paddle's ``HostPythonNode``s."""
    return SimpleNamespace(
        name=name,
        type=kind,
        start_ns=start_ns,
        end_ns=end_ns,
        mem_node=[],
        children_node=list(children),
        runtime_node=list(launches),
    )


def launch(start_ns, *kernels):
    """Make a call of the CUDA runtime; kernels are ``(type, start, end)``, on device 0."""
    on_device = [
        SimpleNamespace(type=kind, start_ns=start, end_ns=end, device_id=0)
        for kind, start, end in kernels
    ]
    return SimpleNamespace(
        name="cudaLaunchKernel_v7000", start_ns=start_ns, end_ns=start_ns + 5, device_node=on_device
    )


def op(name, start_ns, *launches):
    """Make an op with one kernel call, of 100 ns each."""
    call = stand_in(
        f"{name} kernel launch",
        TracerEventType.DygraphKernelLaunch,
        start_ns + 10,
        start_ns + 90,
        launches=launches,
    )
    return stand_in(f"{name} dygraph", TracerEventType.Operator, start_ns, start_ns + 100, call)


def read(*segments):
    parts = []
    for number, events in enumerate(segments):
        root = stand_in("root node", TracerEventType.UserDefined, 0, 1 << 64, *events)
        begin, end = (ClockReading(10_000 * at, 10_000 * at) for at in (number, number + 1))
        result = SimpleNamespace(get_data=lambda root=root: {THREAD: root})
        parts.append(Segment(result, begin, end, has_kernels=True, has_device=True))
    return read_kernel_segments(parts)


def test_a_kernel_is_at_the_call_that_launched_it_not_at_its_own_time():
    calls, on_device, _ = read(
        [
            op("matmul", 100, launch(120, (KERNEL, 900, 1400)), launch(130, (KERNEL, 1450, 1500))),
            op("add", 300, launch(320, (KERNEL, 1700, 1800))),
        ]
    )
    assert sorted(calls.start_ns.tolist()) == [110, 310]
    assert (calls.end_ns - calls.start_ns).tolist() == [80, 80]
    by_launch = sorted(
        zip(
            on_device.launch_ns.tolist(),
            on_device.duration_ns.tolist(),
            on_device.gap_ns.tolist(),
            strict=True,
        )
    )
    assert by_launch == [(120, 500, 0), (130, 50, 50), (320, 100, 200)]
    assert set(on_device.thread.tolist()) == {THREAD}


def test_a_copy_is_no_kernel_but_the_device_is_not_idle_meanwhile():
    _, on_device, _ = read(
        [
            op("to_tensor", 100, launch(120, (MEMCPY, 500, 800))),
            op("add", 300, launch(320, (KERNEL, 850, 900))),
        ]
    )
    assert on_device.launch_ns.tolist() == [320]
    assert on_device.gap_ns.tolist() == [50]


def test_kernels_of_two_streams_that_overlap_leave_no_gap_between_them():
    _, on_device, _ = read(
        [
            op(
                "add",
                100,
                *(
                    launch(110 + at, (KERNEL, start, end))
                    for at, (start, end) in enumerate([(500, 900), (600, 700), (950, 1000)])
                ),
            )
        ]
    )
    found = dict(zip(on_device.launch_ns.tolist(), on_device.gap_ns.tolist(), strict=True))
    assert found == {110: 0, 111: 0, 112: 50}


def test_the_log_being_cut_is_no_gap():
    _, on_device, _ = read(
        [op("add", 100, launch(120, (KERNEL, 200, 300)))],
        [op("add", 10_100, launch(10_120, (KERNEL, 10_200, 10_300)))],
    )
    assert on_device.gap_ns.tolist() == [0, 0]


def test_a_kernel_that_a_kernel_calls_is_a_part_of_it():
    inner = op("fill", 120)
    outer = stand_in(
        "sum kernel launch",
        TracerEventType.DygraphKernelLaunch,
        110,
        290,
        inner,
    )
    calls, _, _ = read([stand_in("sum dygraph", TracerEventType.Operator, 100, 300, outer)])
    assert calls.start_ns.tolist() == [110]


def test_an_event_of_the_users_is_no_kernel():
    event = stand_in("my kernel launch", TracerEventType.PythonUserDefined, 100, 200)
    calls, on_device, _ = read([event])
    assert len(calls) == len(on_device) == 0
