"""Layers of several models have distinct names."""

from __future__ import annotations

from paddle_lab.api import Trace
from tests.trace.records import RecordWriter


def shares(w: RecordWriter) -> dict[str, int]:
    return {share.label: share.bytes for share in Trace(w.record()).memory.by_layer()}


def layer(w: RecordWriter, path: str, *, parent: int = -1) -> int:
    """Return the scope of a call of a new layer. Another layer may have the same path."""
    row = w.row("layers", path=path, parent=parent, **{"class": "Linear"})
    return w.row("scopes", kind="layer", layer=row)


def gan() -> RecordWriter:
    """Write two models whose layers have the same paths, each with a parameter and a result."""
    w = RecordWriter()
    for model, size in (("G", 1000), ("D", 10)):
        root = layer(w, model)
        weight = w.tensor("w", kind="parameter", path="0.weight")
        inner = layer(w, "0", parent=len(w.tables["layers"]) - 1)
        made = w.op("linear", weight)
        w.tables["ops"].set(w.producer(made), "scope", inner)
        changed = w.tensor("w", kind="parameter", path="0.weight", previous=weight.key)
        w.allocation(size, tensor=changed, kind="parameter", start_ns=-1)
        w.allocation(2 * size, op=w.producer(made))
        assert root < inner
    return w


def test_layers_of_two_models_are_two_layers():
    assert shares(gan()) == {"G.0": 3000, "D.0": 30}


def test_a_path_that_is_a_number_alone_gets_its_model_s_name():
    w = RecordWriter()
    with w.layer("net", "Sequential"), w.layer("0", "Linear"):
        w.allocation(8, tensor=w.op("linear"))
    assert shares(w) == {"net.0": 8}


def test_a_path_that_is_one_model_s_alone_stays_short():
    w = RecordWriter()
    with w.layer("model", "Net"), w.layer("block.fc", "Linear"):
        w.allocation(8, tensor=w.op("linear"))
    assert shares(w) == {"block.fc": 8}


def test_a_parameter_that_no_layer_used_keeps_its_path():
    w = RecordWriter()
    w.allocation(8, tensor=w.parameter("1.weight"), kind="parameter", start_ns=-1)
    w.allocation(4, tensor=w.parameter("scale"), kind="parameter", start_ns=-1)
    assert shares(w) == {"1": 8, "before the trace": 4}


def test_a_parameter_that_no_kept_op_used_is_that_of_the_only_model_with_its_layer():
    w = RecordWriter()
    for model, paths in (("G", ["0"]), ("D", ["0", "1"])):
        root = w.row("layers", path=model, **{"class": "Sequential"})
        for path in paths:
            w.row("layers", path=path, parent=root, **{"class": "Linear"})
    w.allocation(8, tensor=w.parameter("0.weight"), kind="parameter", start_ns=-1)
    w.allocation(4, tensor=w.parameter("1.weight"), kind="parameter", start_ns=-1)
    assert shares(w) == {"0": 8, "D.1": 4}
