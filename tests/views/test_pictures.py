"""Static pictures: their content, and that texts in them never become markup."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from paddle_lab.analysis.answers import with_answers
from paddle_lab.trace.record import Record
from paddle_lab.views.svg.palette import PALETTES
from paddle_lab.views.svg.picture import svg_picture
from paddle_lab.views.svg.writer import shorten, text_width_px, xml_text
from tests.trace.records import RecordWriter
from tests.views.hostile import hostile_record

SVG = "{http://www.w3.org/2000/svg}"
STATIC = {"svg", "title", "rect", "path", "text", "tspan"}


def residual() -> Record:
    w = RecordWriter()
    x = w.op("full", shape=(4, 8))
    weight = w.parameter("fc.weight")
    with w.layer("fc", "Linear"):
        y = w.op("linear", x, weight, shape=(4, 8))
    y = w.op("relu", y, shape=(4, 8))
    z = w.op("add", y, x, shape=(4, 8))
    w.op("set_value", z, in_place=z, shape=(4, 8))
    matmul, add = w.grad_node("MatmulGradNode", 1), w.grad_node("AddGradNode", 3)
    relu = w.grad_node("ReluGradNode", 2)
    leaf = w.grad_node("GradNodeAccumulation", parameter=weight)
    w.grad_edge(add, relu)
    w.grad_edge(relu, matmul)
    w.grad_edge(matmul, leaf)
    w.backward(add)
    return with_answers(w.record())


def texts(picture: str) -> list[str]:
    """Return what is written, line by line; tooltips apart."""
    return [
        " ".join(span.text or "" for span in element.iter(f"{SVG}tspan"))
        for element in ElementTree.fromstring(picture).iter(f"{SVG}text")
    ]


def test_a_ladder_has_both_sides():
    written = texts(svg_picture(residual()))
    assert written[:4] == [
        "Cell 4 5 ops · 4 grad nodes · 1.5 ms",
        "forward ↓",
        "backward ↑",
        "[4, 8]",
    ]
    for text in ("full", "fc linear", "relu", "add", "set_value", "weight"):
        assert text in written
    assert [text for text in written if "Grad" in text] == ["MatmulGrad", "ReluGrad", "AddGrad"]


def test_each_view_has_its_own_side():
    forward, backward = (
        texts(svg_picture(residual(), view=view)) for view in ("forward", "backward")
    )
    assert "relu" in forward
    assert not any("Grad" in text for text in forward)
    assert "ReluGrad" in backward
    assert "relu" not in backward


def boxes(picture: str, stroke: str) -> list[tuple[float, float, float, float]]:
    return [
        tuple(float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
        for rect in ElementTree.fromstring(picture).iter(f"{SVG}rect")
        if rect.get("stroke") == stroke and float(rect.get("height", "0")) == 26
    ]


@pytest.mark.parametrize("theme", PALETTES)
def test_a_grad_node_is_on_the_row_of_its_op(theme):
    picture = svg_picture(residual(), theme=theme)
    palette = PALETTES[theme]
    forward, backward = boxes(picture, palette.forward), boxes(picture, palette.backward)
    assert len(forward) == 5
    assert [y for _, y, _, _ in backward] == [y for _, y, _, _ in forward[1:4]]
    assert all(left[0] + left[2] < right[0] for left in forward for right in backward)


def test_boxes_do_not_overlap_and_stay_on_the_picture():
    picture = svg_picture(residual())
    width = float(ElementTree.fromstring(picture).get("width"))
    placed = sorted(boxes(picture, PALETTES["light"].forward), key=lambda box: box[1])
    for (_, y, _, height), (_, below, _, _) in pairwise(placed):
        assert y + height < below
    assert all(x >= 0 and x + box_width <= width for x, _, box_width, _ in placed)


def test_a_skip_bows_out_beside_the_trunk():
    picture = svg_picture(residual(), view="forward")
    left = min(x for x, *_ in boxes(picture, PALETTES["light"].forward))
    bows = [
        path.get("d", "")
        for path in ElementTree.fromstring(picture).iter(f"{SVG}path")
        if "C" in path.get("d", "")
    ]
    (bow,) = bows
    assert bow.startswith(f"M{left:g} ")
    assert float(bow.split("C")[1].split()[0]) < left


def test_a_failure_is_told_above_the_picture():
    w = RecordWriter()
    w.op("pow")
    w.origin.exception = "RuntimeError: (PermissionDenied) Tensor was modified\nand more"
    w.backward(w.grad_node("PowGradNode", 0), error="(NotFound) something else")
    written = texts(svg_picture(with_answers(w.record())))
    assert "Raised RuntimeError: (PermissionDenied) Tensor was modified" in written
    assert "Backward failed: (NotFound) something else" in written


def test_a_failure_that_ended_the_trace_is_told_once_and_with_its_reason():
    w = RecordWriter()
    w.op("pow")
    error = "OSError: (External) \n{\n  === Error message in backward of X===\n  ValueError: no"
    w.origin.exception = error
    w.backward(w.grad_node("PowGradNode", 0), error=error)
    written = "\n".join(texts(svg_picture(with_answers(w.record()))))
    assert "Raised OSError: ValueError: no" in written
    assert "Backward failed" not in written


@pytest.mark.parametrize("view", ["ladder", "forward", "backward"])
def test_an_empty_trace_is_a_picture_with_a_sentence(view):
    written = texts(svg_picture(with_answers(RecordWriter().record()), view=view))
    assert "No Paddle op ran in the traced code." in written


def test_a_trace_without_gradients_says_so():
    w = RecordWriter()
    w.op("relu")
    assert "No gradient was recorded." in texts(
        svg_picture(with_answers(w.record()), view="backward")
    )


@pytest.mark.parametrize("view", ["ladder", "forward", "backward"])
def test_hostile_texts_stay_texts(view):
    picture = svg_picture(with_answers(hostile_record()), view=view)
    elements = list(ElementTree.fromstring(picture).iter())
    assert {element.tag.removeprefix(SVG) for element in elements} <= STATIC
    for element in elements:
        assert not any(name.lower().startswith("on") or "href" in name for name in element.attrib)


def test_xml_text_holds_what_xml_may_hold():
    assert xml_text("a<b>&\"'\0\x1b\uffffü") == "a&lt;b&gt;&amp;&quot;&#x27;\ufffd\ufffd\ufffdü"


def test_texts_are_cut_to_their_room():
    text = "encoder.layers.0.self_attn.out_proj" * 10
    cut = shorten(text, 100, 12)
    assert cut.endswith("…")
    assert text_width_px(cut, 12) <= 100
    assert shorten("short", 100, 12) == "short"
    assert shorten("two\n  lines", 100, 12) == "two lines"
    assert text_width_px("层层层", 12) > text_width_px("aaa", 12)


def test_the_largest_picture_has_a_bounded_size():
    w = RecordWriter()
    for i in range(3000):
        w.op(f"op{i}" * 20, w.tensor(), w.parameter("w" * 100))
    assert len(svg_picture(with_answers(w.record()))) < 80_000
