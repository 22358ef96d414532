"""An out-of-memory error: its facts and its advice."""

from __future__ import annotations

import pytest

from paddle_lab.analysis.memory.advice.failed_request import (
    failed_request,
    is_out_of_memory,
    requested_bytes,
)
from paddle_lab.api import Trace
from tests.analysis.memory.test_growth import loop
from tests.trace.records import RecordWriter

MIB = 1 << 20
GPU_TEXT = (
    "MemoryError: \n\nOut of memory error on GPU 0. Cannot allocate 1.500000GB memory on GPU 0, "
    "28.770508GB memory has been allocated and available memory is only 716.750000MB.\n\n"
    "Please check whether there is any other process using GPU 0."
)
# Texts from Paddle's binary for devices of a plug-in, and the text for an XPU.
CUSTOM_TEXT = (
    "MemoryError: \n\nOut of memory error on npu:0. Cannot allocate 512.000000kB memory on npu:0, "
    "available memory is only 96.500000kB.\n\n"
)
CHUNK_TEXT = (
    "MemoryError: (ResourceExhausted) Cannot allocate 2.000000GB in npu:1, available 1.500000GB, "
    "total 32.000000GB, used 30.500000GB. "
)
XPU_TEXT = (
    "MemoryError: \n\nOut of memory error on XPU 3. Cannot allocate 64.000000B memory on XPU 3."
)
CPU_TEXT = (
    "MemoryError: (ResourceExhausted) Fail to alloc memory of 281474976710656 size, error code is "
    "12.\n  [Hint: Expected error == 0, but received error:12 != 0:0.]"
)


@pytest.mark.parametrize(
    ("text", "available"),
    [
        (GPU_TEXT, round(716.75 * MIB)),
        (CUSTOM_TEXT, round(96.5 * 1024)),
        (CHUNK_TEXT, round(1.5 * 1024**3)),
        (XPU_TEXT, None),
    ],
)
def test_what_the_device_still_had_is_read(text, available):
    assert failed_request(Trace(RecordWriter().record()).ops, text).available_bytes == available


def failed(w: RecordWriter, text: str = GPU_TEXT) -> Trace:
    w.origin.exception = text
    return Trace(w.record())


def advice(w: RecordWriter) -> list[str]:
    return list(failed(w).memory.out_of_memory.advice)


@pytest.mark.parametrize(
    ("text", "is_one", "requested"),
    [
        (GPU_TEXT, True, round(1.5 * 1024**3)),
        (CPU_TEXT, True, 1 << 48),
        (CUSTOM_TEXT, True, 512 * 1024),
        (CHUNK_TEXT, True, 2 * 1024**3),
        (XPU_TEXT, True, 64),
        ("MemoryError: (ResourceExhausted) \n\nOut of memory error on GPU Virtual Memory 0.", True,
         None),
        ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8.00 TiB", False, None),
        ("MemoryError: ", False, None),
        ("ValueError: no", False, None),
        ("", False, None),
    ],
)  # fmt: skip
def test_paddle_s_errors_are_known_by_their_text(text, is_one, requested):
    assert is_out_of_memory(text) is is_one
    assert requested_bytes(text) == requested


def test_paddle_s_real_error_is_known():
    paddle = pytest.importorskip("paddle")
    with pytest.raises(MemoryError) as caught:
        paddle.empty([1 << 46])
    assert is_out_of_memory(str(caught.value))
    assert requested_bytes(str(caught.value)) == 1 << 48


def test_another_exception_is_not_it():
    w = RecordWriter()
    w.allocation(8)
    assert failed(w, "ValueError: no").memory.out_of_memory is None
    assert Trace(w.record()).memory.out_of_memory is None


def test_the_report_has_the_op_what_was_alive_and_what_to_do():
    w = RecordWriter()
    with w.layer("net.fc", "Linear"):
        x = w.op("linear", line=3)
        w.allocation(20 * MIB, tensor=x, kind="saved_activation")
        y = w.op("matmul", x, line=7)
    w.tables["ops"].set(1, "raised", 1)
    w.allocation(10 * MIB, op=w.producer(y), start_ns=1200, end_ns=1900)
    found = failed(w).memory.out_of_memory
    assert found.op.name == "matmul"
    assert (found.time_ns, found.allocated_bytes) == (1200, 30 * MIB)
    assert (found.requested_bytes, found.available_bytes) == (
        round(1.5 * 1024**3), round(716.75 * MIB),
    )  # fmt: skip
    assert [block.bytes for block in found.alive] == [20 * MIB, 10 * MIB]
    text = repr(found)
    assert text.startswith(
        "Out of memory: matmul in net.fc at Cell 4, line 7 asked for 1.50 GiB, 30.0 MiB allocated, "
        "716.8 MiB free"
    )
    for part in ("largest first", "by line", "What to do", "asked for 1.50 GiB at once"):
        assert part in text


def test_in_backward_the_moment_is_the_fullest_after_the_last_op():
    w = RecordWriter()
    w.allocation(50 * MIB, start_ns=10, end_ns=20)
    w.op("matmul")
    w.op("mean")
    w.allocation(10 * MIB, start_ns=1500)
    w.allocation(30 * MIB, start_ns=3000, end_ns=3500)
    found = failed(w).memory.out_of_memory
    assert (found.op, found.time_ns, found.allocated_bytes) == (None, 3000, 40 * MIB)
    assert repr(found).startswith("Out of memory: 1.50 GiB asked for, 40.0 MiB allocated")


def test_without_ops_the_end_is_the_moment():
    w = RecordWriter()
    w.allocation(10 * MIB, start_ns=1500)
    assert failed(w).memory.out_of_memory.time_ns == 1500


def with_kind(kind: str, *, ran_backward: bool = True) -> RecordWriter:
    w = RecordWriter()
    with w.layer("net.block", "Linear"):
        x = w.op("linear", line=3)
    w.allocation(3 << 30, tensor=x, kind=kind)
    if ran_backward:
        w.backward(w.grad_node("LinearGradNode", 0))
    else:
        w.backward(w.grad_node("LinearGradNode", 0), kind="remaining")
    return w


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("saved_activation", "most of them in net.block (3.00 GiB): recompute"),
        ("activation", "most of them from Cell 4, line 3 (3.00 GiB): del those"),
        ("temporary", "work space inside ops, most of it in linear at Cell 4, line 3"),
        ("parameter", "3.00 GiB of them in net.block: hold them in bfloat16"),
        ("gradient", "clear_grad(set_to_zero=False) frees them"),
        ("optimizer_state", "Adam keeps two values for each parameter"),
        ("input", "such as batches of data: make the batches smaller"),
    ],
)
def test_advice_fits_the_kind_that_is_most(kind, sentence):
    (only,) = advice(with_kind(kind))
    assert sentence in only
    assert only.startswith("3.00 GiB (100%) is ")


def test_evaluation_without_no_grad():
    (only,) = advice(with_kind("saved_activation", ran_backward=False))
    assert "backward never ran" in only
    assert "a paddle.no_grad() block" in only


def test_little_of_a_kind_is_not_worth_a_sentence():
    w = with_kind("parameter")
    w.allocation(100 * MIB, kind="gradient", start_ns=5)
    assert len(advice(w)) == 1


def test_a_leak_comes_first_and_names_its_line():
    trace = loop(10, lambda _: [(5, 640, None), (3, 700, 0)])
    trace.record.origin.exception = CPU_TEXT.replace(str(1 << 48), "512")
    first = trace.memory.out_of_memory.advice[0]
    assert "Memory grows by 640 B a step at Cell 4, line 5" in first
    assert "float(loss)" in first


def test_a_leak_names_what_gathers_it_and_not_what_is_largest():
    trace = leaking_loop()
    assert "keeps what it makes, in losses. Keep numbers" in trace.memory.leak


def test_a_leak_over_many_lines_comes_before_the_activations_it_keeps():
    first, second = leaking_loop().memory.advice()[:2]
    assert first.startswith("Memory grows by ")
    assert " a step at Cell 4, line 5: " in first
    assert "is activations kept for backward" in second


def leaking_loop() -> Trace:
    """Return a loop in which a list keeps the backward graphs of its steps, made by two lines."""
    w = RecordWriter()
    weight = w.parameter("net.weight")
    w.holder(w.allocation(2000, tensor=weight, kind="parameter", start_ns=-1), "variable", "net")
    w.backward(w.grad_node("LinearGradNode", 0))
    for step in range(8):
        for line, size in ((5, 2000), (7, 1800)):
            made = w.op(f"op{line}", line=line)
            block = w.allocation(size, tensor=made, kind="saved_activation")
            w.holder(block, "backward_graph", f"losses[{step}]")
        w.step()
    return Trace(w.record())


def test_a_leak_of_a_few_bytes_is_not_worth_a_sentence():
    trace = loop(10, lambda step: [(5, 4, None), (3, 1 << 30, None if step == 0 else 0)])
    assert len(trace.memory.growth()) == 1
    assert not any("grows" in sentence for sentence in trace.memory.advice())


def test_a_leak_of_less_than_4_kib_so_far_has_no_sentence():
    assert loop(10, lambda _: [(5, 64, None)]).memory.growth()
    assert not loop(10, lambda _: [(5, 64, None)]).memory.leak
    assert loop(100, lambda _: [(5, 64, None)]).memory.leak


def test_what_the_notebook_holds():
    w = with_kind("activation")
    w.holder(0, "output", "Out[5]")
    sentences = advice(w)
    assert any("3.00 GiB is in Out[5]" in text and "%paddle_mem free" in text for text in sentences)


def test_what_a_variable_holds_too_is_not_offered_to_be_released():
    w = with_kind("activation")
    w.holder(0, "output", "Out[5]")
    w.holder(0, "variable", "hidden")
    assert not any("%paddle_mem free" in text for text in advice(w))


def test_what_two_outputs_hold_is_counted_once():
    w = with_kind("activation")
    w.holder(0, "output", "Out[5]")
    w.holder(0, "output", "Out[6][0]")
    (said,) = [text for text in advice(w) if "%paddle_mem free" in text]
    assert said.startswith("3.00 GiB is in Out[5], Out[6][0]")


def test_an_error_s_own_traceback_is_no_cause_and_comes_last():
    w = with_kind("activation")
    w.holder(0, "traceback", "hidden in forward(), last traceback")
    cause, traceback = advice(w)
    assert "results that backward does not need" in cause
    assert "this error's traceback keeps it" in traceback
    assert traceback.endswith("Run %paddle_mem free before you run the cell again.")
    w.origin.exception = ""
    of_another = Trace(w.record()).memory.advice()[0]
    assert of_another.endswith(
        "the last exception's traceback keeps it. %paddle_mem free releases it."
    )


def test_results_that_a_list_keeps_are_told_with_the_list():
    w = with_kind("activation")
    w.holder(0, "container", "seen[0]")
    (only,) = advice(w)
    assert "most of them from Cell 4, line 3 (3.00 GiB), kept in seen: del those" in only


@pytest.mark.parametrize(
    ("text", "is_all"),
    [
        (CPU_TEXT, True),
        (CPU_TEXT.replace(str(1 << 48), str(4 << 30)), False),
        # The size of the device is known: the bytes that were allocated, and those that were free.
        (GPU_TEXT.replace("allocate 1.500000GB", "allocate 3.600000GB"), False),
        (GPU_TEXT.replace("allocate 1.500000GB", "allocate 3.800000GB"), True),
    ],
)
def test_who_asks_for_more_than_there_ever_was_hears_of_that_alone(text, is_all):
    sentences = failed(with_kind("activation"), text).memory.out_of_memory.advice
    assert "Check its input shapes" in sentences[0]
    assert (len(sentences) == 1) is is_all


def test_a_layer_is_told_with_its_model_where_it_has_but_a_number():
    w = RecordWriter()
    with w.layer("net", "Sequential"), w.layer("7.0", "Linear"):
        w.op("linear", line=3)
    w.tables["ops"].set(0, "raised", 1)
    w.allocation(8)
    assert repr(failed(w).memory.out_of_memory).startswith("Out of memory: linear in net.7.0 at ")


def test_what_was_there_before():
    w = RecordWriter()
    w.memory_total(0, 5 << 30, 5 << 30)
    w.allocation(1 << 30, start_ns=4)
    assert any("5.00 GiB was allocated before this cell" in text for text in advice(w))


def test_fragmentation_that_would_have_been_enough_comes_first():
    w = RecordWriter()
    w.memory_total(0, 0, 0, "gpu:0")
    w.memory_total(1, 0, 20 << 30, "gpu:0")
    w.allocation(17 << 30, start_ns=4, place="gpu:0")
    first = advice(w)[0]
    assert "3.00 GiB of 20.0 GiB reserved memory was free in pieces" in first
    assert "enough in all for what was asked for" in first


def test_what_is_reserved_in_pieces_was_there_too():
    w = RecordWriter()
    w.memory_total(0, 0, 0, "gpu:0")
    w.memory_total(1, 0, 20 << 30, "gpu:0")
    w.allocation(1 << 30, start_ns=4, place="gpu:0")
    text = GPU_TEXT.replace("allocate 1.500000GB", "allocate 15.000000GB")
    sentences = failed(w, text).memory.out_of_memory.advice
    assert any("reserved memory was free in pieces" in sentence for sentence in sentences)


def test_there_is_always_something_to_do():
    w = RecordWriter()
    w.allocation(4 << 30, kind="unknown")
    assert advice(w) == ["Lower the batch size, or split the batch and accumulate gradients."]


def test_the_peak_of_a_cell_that_succeeded_has_advice_too():
    memory = Trace(with_kind("gradient").record()).memory
    assert "is gradients" in memory.advice()[0]
