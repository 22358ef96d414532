"""The public API: ``Trace`` and ``load``."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

import paddle_lab
from paddle_lab.api import Trace, load
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES, RECORD_TABLES
from tests.trace.records import RecordWriter


def small_trace() -> Trace:
    w = RecordWriter()
    with w.layer("fc", "Linear"):
        y = w.op("linear", w.tensor("x"), w.parameter("fc.weight"))
    node = w.grad_node("MatmulGradNode", w.producer(y))
    w.backward(node)
    return Trace(w.record())


def test_a_saved_trace_is_the_same_trace(tmp_path):
    trace = small_trace()
    path = trace.save(tmp_path / "one.pltrace")
    back = load(path)
    assert [op.name for op in back.ops] == ["linear"]
    assert back.payload() == trace.payload()
    assert back.summary() == trace.summary()


def test_a_saved_trace_holds_no_answers_and_a_payload_does(tmp_path):
    trace = small_trace()
    assert set(trace.record.tables) == set(RECORD_TABLES)
    assert set(trace.view_record.tables) == set(RECORD_TABLES) | set(ANSWER_TABLES)
    assert len(trace.payload()) > trace.save(tmp_path / "one.pltrace").stat().st_size


def test_a_payload_is_made_once():
    trace = small_trace()
    assert trace.payload() is trace.payload()


@pytest.mark.parametrize(
    "read",
    [
        lambda trace: trace.record,
        lambda trace: trace.ops,
        lambda trace: trace.tensors,
        lambda trace: trace.backward_calls,
        lambda trace: trace.regions,
        lambda trace: trace.allocations,
        lambda trace: trace.memory,
        lambda trace: trace.graph("forward"),
        lambda trace: trace.to_chrome_trace("never"),
        lambda trace: trace.to_memory_snapshot("never"),
        lambda trace: trace.to_memory_csv("never"),
        lambda trace: trace.summary(),
        lambda trace: trace.payload(),
        lambda trace: trace.fallback_html(),
        lambda trace: trace.save("never"),
        lambda trace: trace.to_html("never"),
        lambda trace: trace.to_svg("never"),
    ],
)
def test_a_trace_that_is_still_recording_says_so(read):
    trace = Trace()
    assert trace.is_recording
    assert repr(trace) == "<Trace: still recording>"
    with pytest.raises(RuntimeError, match="still being recorded; read it after its block ends"):
        read(trace)


def test_a_trace_that_has_ended_can_be_read():
    trace = Trace()
    trace.complete(small_trace().record)
    assert not trace.is_recording
    assert repr(trace) == "<Trace: Cell 4: 1 op · 1 grad node · 1.5 ms>"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda trace: trace.to_svg("x", teme="dark"), r"no option 'teme'; did you mean 'theme'\?"),
        (
            lambda trace: trace.graph("backward", calls=0),
            r"no option 'calls'; did you mean 'call'\?",
        ),
        (lambda trace: trace.to_svg("x", zzz=1), "it has path, view, theme, depth"),
    ],
)
def test_an_unknown_option_names_the_nearest(call, sentence):
    with pytest.raises(TypeError, match=sentence):
        call(small_trace())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"view": "side"}, 'no view .side.; choose "ladder", "forward" or "backward"'),
        ({"theme": "blue"}, 'no theme .blue.; choose "light" or "dark"'),
        ({"depth": -1}, "from 0; it is -1"),
    ],
)
def test_a_wrong_option_writes_nothing(tmp_path, options, sentence):
    path = tmp_path / "graph.svg"
    with pytest.raises(ValueError, match=sentence):
        small_trace().to_svg(path, **options)
    assert not path.exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"view": "side"},
            'choose "forward", "backward", "ladder", "memory", "table" or "time"',
        ),
        ({"height": -5}, "240 to 4000 pixels high, not -5"),
        ({"height": 5000}, "240 to 4000 pixels high, not 5000"),
    ],
)
def test_a_widget_refuses_what_it_cannot_show(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        small_trace().widget(**options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"title": 3}, "a trace's title is text, not 3"),
        ({"profile": "x"}, "profile= is True or False, not 'x'"),
        ({"values": 3}, "values= is True, False, or the name of a part .*; not 3"),
        ({"grads": None}, "grads= is True, False, or the name of a part .*; not None"),
    ],
)
def test_a_trace_refuses_values_of_another_type(options, sentence):
    for record in (paddle_lab.trace, paddle_lab.memory):
        with pytest.raises(TypeError, match=sentence):
            record(**options)


def test_names_that_are_no_utf8_reach_every_file(tmp_path):
    w = RecordWriter()
    w.origin.title = "caf\udce9.py, line 3"
    w.op("re\udce9lu", w.tensor("x"))
    record = w.record()
    trace = Trace(Record(record.tables, record.strings, replace(record.origin)))
    trace.to_html(tmp_path / "graph.html")
    trace.to_svg(tmp_path / "graph.svg")
    assert load(trace.save(tmp_path / "one.pltrace")).ops[0].name == "re?lu"
    trace.fallback_html().encode()
    assert repr(trace).startswith("<Trace: caf?.py, line 3")


def test_a_picture_is_written(tmp_path):
    path = small_trace().to_svg(tmp_path / "graph.svg", view="forward", theme="dark", depth=0)
    assert path.read_text(encoding="utf-8").startswith("<svg ")


def test_opening_a_trace_needs_neither_paddle_nor_jupyter(tmp_path):
    path = small_trace().save(tmp_path / "one.pltrace")
    code = f"""
import sys
for name in ("paddle", "IPython", "ipywidgets", "anywidget"):
    sys.modules[name] = None
import paddle_lab
heavy = {{"networkx", "pandas", "bokeh"}} & set(sys.modules)
assert not heavy, heavy
trace = paddle_lab.load({str(path)!r})
trace.ops[0].stack, trace.summary(), trace.graph("backward"), trace.payload()
trace.to_svg({str(tmp_path / "graph.svg")!r})
print(repr(trace))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 op" in done.stdout


def test_the_public_names():
    assert paddle_lab.load is load
    assert paddle_lab.Trace is Trace
