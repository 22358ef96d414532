"""The self-contained page, and the HTML that replaces the widget."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import paddle_lab
from paddle_lab.analysis.answers import with_answers
from paddle_lab.api import Trace
from paddle_lab.trace.unpack import unpack
from paddle_lab.views.html import static_files
from paddle_lab.views.html.fallback import fallback_html
from tests.trace.records import RecordWriter
from tests.views.hostile import hostile_record

STATIC = Path(paddle_lab.__file__).parent / "static"
needs_front_end = pytest.mark.skipif(
    not (STATIC / "standalone.js").exists(), reason="the front end is not built"
)


class Elements(HTMLParser):
    """Collects start tags, and the text inside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.texts: list[str] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag in self.raw:
            self.raw[tag].append("")

    def handle_endtag(self, _tag):
        self._inside = ""

    def handle_data(self, data):
        self.texts.append(data)
        if self._inside in self.raw:
            self.raw[self._inside][-1] += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def large_trace(op_count: int) -> Trace:
    w = RecordWriter()
    x = w.tensor("x", (32, 64))
    last = None
    for i in range(op_count // 4):
        with (
            w.layer(f"net.layers.{i}", "TransformerEncoderLayer"),
            w.call(f"Block{i}.forward", line=i, file=f"/home/someone/project/model_{i % 7}.py"),
        ):
            for name in ("linear", "relu", "linear", f"custom_op_{i}"):
                x = w.op(name, x, w.parameter(f"net.layers.{i}.weight"), line=i + 10)
                node = w.grad_node(f"{name.title()}GradNode", w.producer(x))
                if last is not None:
                    w.grad_edge(node, last)
                last = node
    w.backward(last)
    return Trace(w.record())


@needs_front_end
def test_a_page_holds_all_it_needs_and_may_load_nothing(tmp_path):
    trace = large_trace(40)
    text = trace.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    page = Elements(text)
    kinds = [attributes.get("type") for attributes in page.named("script")]
    # The page's script comes before the data, and reads the data while the page arrives.
    assert kinds == [None, "application/x-paddle-lab"]
    record = unpack(base64.b64decode(page.raw["script"][1]))
    assert record.strings[: len(trace.record.strings)] == trace.record.strings
    assert any(attributes.get("id") == "pdl-root" for attributes in page.named("div"))
    assert not [a for _, a in page.tags if {"src", "href"} & set(a)]
    policy = next(a["content"] for a in page.named("meta") if a.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    for raw in (page.raw["script"][0], page.raw["style"][0]):
        digest = base64.b64encode(hashlib.sha256(raw.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


@needs_front_end
def test_a_page_has_a_picture_for_browsers_without_scripts(tmp_path):
    text = large_trace(40).to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    still = re.search(r"<noscript>(.*?)</noscript>", text, re.DOTALL)
    assert still is not None
    assert "<svg " in still[1]
    assert "custom_op_0" in still[1]


@needs_front_end
def test_a_hostile_page_has_no_script_but_ours(tmp_path):
    path = Trace(hostile_record()).to_html(tmp_path / "page.html")
    page = Elements(path.read_text(encoding="utf-8"))
    assert len(page.named("script")) == 2
    assert len(page.named("style")) == 1
    assert not page.named("img")
    for _, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)
    assert "owned" not in page.raw["script"][0]


def test_a_missing_front_end_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(static_files, "_FOLDER", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"standalone\.js.*npm run build"):
        large_trace(8).to_html(tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_the_fallback_of_a_thousand_ops_is_small():
    html = large_trace(1000).fallback_html()
    assert len(html.encode()) <= 60_000
    assert Elements(html).named("img")


def test_the_fallback_has_what_survives_a_sanitizer():
    page = Elements(large_trace(1000).fallback_html())
    allowed = {"div", "p", "i", "img", "details", "summary", "table", "tr", "th", "td"}
    assert {tag for tag, _ in page.tags} == allowed
    (image,) = page.named("img")
    kind, _, data = image["src"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(data).startswith(b"<svg ")
    assert "1,000 ops" in image["alt"]


def test_the_fallback_says_how_to_get_the_graph_back_and_where_ops_were_called():
    html = large_trace(12).fallback_html()
    assert "A still picture." in html
    assert "paddle-lab: install it there, then reload the page" in html
    page = Elements(html)
    assert {"Layers and their costs", "Lines and their costs"} <= set(page.texts)
    assert any("model_0.py:10" in text for text in page.texts)
    assert "net.layers.0" in page.texts


def test_the_fallback_of_an_empty_trace_is_a_picture():
    html = fallback_html(with_answers(RecordWriter().record()))
    assert [tag for tag, _ in Elements(html).tags].count("img") == 1


def test_hostile_texts_stay_texts_in_the_fallback():
    page = Elements(fallback_html(with_answers(hostile_record())))
    assert not page.named("script")
    (image,) = page.named("img")
    assert image["src"].startswith("data:image/svg+xml;base64,")
    for _, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)
