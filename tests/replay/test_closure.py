"""Which blocks of memory calls read and write, on calls written by hand."""

from __future__ import annotations

from paddle_lab.capture.replay.calls import RecordedCall, Special
from paddle_lab.capture.replay.closure import leading_to, memory_blocks

_STORAGES = {0: 100, 1: 200, 2: 300, 3: 200, 4: 200, 5: -1, 6: 300}


def op(name: str, reads: list[int], made: list[int], writes: tuple[int, ...] = ()) -> RecordedCall:
    return RecordedCall(name=name, reads=reads, made=made, special=Special(writes=[*writes]))


def test_memory_that_is_used_again_is_another_block():
    calls = [
        op("exp", [0], [1]),
        op("tanh", [1], [2]),
        op("full", [], [3]),  # where tensor 1 was
        op("reshape", [3], [4]),
        op("scale_", [4], [4], (200,)),
        op("sin", [2], [6]),  # where tensor 2 still is: it was read just now
    ]
    blocks, writes = memory_blocks(calls, _STORAGES.__getitem__)
    assert blocks[1] != blocks[3] == blocks[4]
    assert blocks[2] == blocks[6]
    assert writes[4] == blocks[3]
    needed = leading_to(calls[:2] + calls[2:5] + [op("add", [1, 4], [0])], _STORAGES.get, 2)
    assert [call.name for call in needed] == ["exp", "tanh"]
    assert [call.name for call in leading_to(calls, _STORAGES.__getitem__, 4)] == [
        "full",
        "reshape",
        "scale_",
    ]


def test_what_a_sparse_tensor_made_may_lie_in_any_memory():
    calls = [
        op("exp", [0], [1]),
        op("sparse_sparse_coo_tensor", [1], [5]),
        op("sparse_values", [5], [3]),
        op("scale_", [3], [3], (200,)),
        op("sparse_relu", [5], [5]),
    ]
    assert len(leading_to(calls, _STORAGES.__getitem__, 5)) == 5
