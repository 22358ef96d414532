"""Values of ops and gradients, which the kernel computes again on a click."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from playwright.sync_api import expect

from tests.browser.graph_view import GraphView
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

SETUP = "%load_ext paddle_lab\nimport paddle, paddle_lab\npaddle_lab.language('en')\npaddle.seed(3)"
TRACED = """%%paddle_trace --replay -o kept
net = paddle.nn.Conv2D(1, 3, 3)
out = paddle.nn.functional.relu(net(paddle.rand([2, 1, 20, 42])))
out.mean().backward()
out = None
for step in range(3):
    paddle.tanh(paddle.full([2, 2], step / 2))"""
WITHOUT = "%%paddle_trace\n_ = paddle.arange(6) * 2"


def test_values_are_computed_on_a_click(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of(SETUP, TRACED, WITHOUT))
    notebook.run_all()
    view = GraphView(notebook.cell(1))
    view.wait_until_drawn()
    panel, place = view.panel, view.panel.locator(".pdl-sliders code")
    shown = panel.locator(".pdl-slices figure")

    # A slice has sliders for batch and channel. A click on the heat map shows the numbers from
    # there on.
    view.click(view.op("relu"))
    panel.get_by_role("button", name="Value").click()
    expect(place).to_have_text("[0, 0, :, :]")
    panel.get_by_label("axis 1 (C of NCHW)").fill("2")
    expect(place).to_have_text("[0, 2, :, :]")
    shown.get_by_label("Heat map").click(position={"x": 240, "y": 4})
    expect(shown.locator("summary")).to_have_text("Numbers [0, 2, :, 8:40]")
    expect(shown.locator("td")).to_have_count(18 * 32)
    panel.get_by_role("button", name="Image").click()
    expect(shown).to_contain_text("axis 1 has 3 channels")
    notebook.screenshot("computed_value")

    # The whole tensor as a file, and the line that returns it.
    with view.app.page.expect_download() as saved:
        panel.get_by_role("button", name="Save as .npy").click()
    assert np.load(saved.value.path()).shape == (2, 3, 18, 40)
    expect(panel.locator(".pdl-actions code")).to_have_text(re.compile(r"^kept\.value\(\d+\)$"))

    # Two values beside each other: of unlike shapes, and of two iterations.
    panel.get_by_role("button", name="Pin", exact=True).click()
    view.click(view.op("mean"))
    panel.get_by_role("button", name=re.compile("Value, beside relu")).click()
    expect(panel).to_contain_text("Their shapes differ")
    expect(shown).to_have_count(1)  # one number has no picture
    panel.get_by_role("button", name="Unpin").click()
    for _ in ("the fold", "its first iteration"):
        view.open_with_keyboard(view.group("step"))
    view.op("tanh").focus()
    view.op("tanh").press("Enter")
    view.op("tanh").press("v")
    panel.get_by_label("Beside iteration").select_option(index=2)
    expect(panel).to_contain_text("4 of 4 elements differ, by 0.762 at most.")
    expect(shown).to_have_count(3)
    notebook.screenshot("computed_value_pinned")

    # A gradient.
    panel.get_by_role("button", name="Unpin").click()
    view.show("Backward")
    view.click(view.outline.locator("[data-grad-node]").filter(has_text="ReluGrad"))
    panel.get_by_role("button", name="Gradient", exact=True).click()
    expect(panel.locator(".pdl-actions code")).to_have_text(re.compile(r"^kept\.gradient\(\d+\)$"))
    # A trace without --replay says how to get one.
    other = GraphView(notebook.cell(2))
    other.wait_until_drawn()
    other.click(other.op("multiply"))
    other.panel.get_by_role("button", name="Value").click()
    expect(other.panel).to_contain_text(re.compile("holds nothing.*--replay"))


COMPILED = """%%paddle_trace --replay -o kept
@paddle.jit.to_static(full_graph=True)
def squash(x):
    hidden = paddle.nn.functional.relu(paddle.matmul(x, x))
    return (hidden * 3).tanh().mean()

data = paddle.rand([6, 6]) - 0.4
data.stop_gradient = False
squash(data).backward()"""


def test_values_inside_a_compiled_program(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of(SETUP, COMPILED))
    notebook.run_all()
    view = GraphView(notebook.cell(1))
    view.wait_until_drawn()
    view.click(view.op("relu"))
    view.panel.get_by_role("button", name="Value").click()
    expect(view.panel).to_contain_text("[6, 6]")
    expect(view.panel.locator(".pdl-actions code")).to_have_text(
        re.compile(r"^kept\.value\(\d+\)$")
    )
    notebook.screenshot("computed_value_inside_a_program")
    view.show("Backward")
    view.click(view.outline.locator("[data-grad-node]").filter(has_text="relu_grad"))
    view.panel.get_by_role("button", name="Gradient", exact=True).click()
    expect(view.panel.locator(".pdl-actions code")).to_have_text(
        re.compile(r"^kept\.gradient\(\d+\)$")
    )
