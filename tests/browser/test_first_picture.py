"""The first picture of real models is readable, and no part is cut or covered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import paddle
import pytest
from paddle import nn
from playwright.sync_api import expect

import paddle_lab
from tests.browser.drawn_picture import SCRIPT, complaints, drawn
from tests.browser.graph_view import FOUR_FRAMES
from tests.models.attention import MODELS as ATTENTION
from tests.models.gan import MODELS as GAN
from tests.models.recurrent import MODELS as RECURRENT
from tests.models.step import seed
from tests.models.unet import MODELS as UNET
from tests.models.vision import MODELS as VISION

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from paddle_lab.api import Trace

_STEPS = {
    "lenet": VISION["lenet"],
    "resnet18": VISION["resnet18"],
    "encoder": ATTENTION["transformer_encoder"],
    "lstm": RECURRENT["lstm"],
    "unet": UNET["unet"],
    "gan": GAN["gan"],
}
_MODELS = ["forward_only", "long_shapes", "loop", *_STEPS]


def traced(model: str) -> Trace:
    if model == "forward_only":
        seed()
        network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        with paddle_lab.trace() as trace, paddle.no_grad():
            network(paddle.ones([2, 4]))
        return trace
    if model == "loop":
        return trained_in_a_loop()
    if model == "long_shapes":
        network = nn.Sequential(nn.Sequential(nn.ReLU(), nn.Tanh(), nn.ReLU()))
        images = paddle.zeros([1024, 1024, 1, 1, 1])
        images.stop_gradient = False
        with paddle_lab.trace() as trace:
            network(images * 2).sum().backward()
        return trace
    step = _STEPS[model]()
    with paddle_lab.trace() as trace:
        step()
    return trace


def trained_in_a_loop() -> Trace:
    """Train for three steps; the first one also makes the optimizer's state."""
    seed()
    layers = nn.Conv2D(1, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(36, 3)
    network = nn.Sequential(*layers)
    optimizer = paddle.optimizer.Adam(parameters=network.parameters())
    labels = paddle.zeros([2], "int64")
    with paddle_lab.trace() as trace:
        for _ in range(3):
            loss = nn.functional.cross_entropy(network(paddle.ones([2, 1, 8, 8])), labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
    return trace


def ladder(page: Page) -> None:
    """Show the ladder."""
    button = page.get_by_role("group", name="Graph").get_by_role("button", name="Ladder")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.evaluate(FOUR_FRAMES)


@pytest.mark.parametrize("model", _MODELS)
def test_the_first_picture_can_be_read_and_cuts_nothing(
    browser: Browser, tmp_path: Path, screenshots: Path, model: str
) -> None:
    path = traced(model).to_html(tmp_path / "page.html")
    for width in (1440, 760):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, reduced_motion="reduce"
        )
        context.add_init_script(path=SCRIPT)
        page = context.new_page()
        page.goto(path.as_uri())
        expect(page.locator("#pdl-root[data-state=ready]")).to_be_visible()
        for mode in ("forward", "ladder"):
            if mode == "ladder":
                ladder(page)
            picture = drawn(page)
            page.screenshot(path=screenshots / f"first_{model}_{mode}_{width}.png")
            words = [text["text"] for text in picture["texts"]]
            assert len(words) >= 3
            assert complaints(picture) == [], (mode, width)
            if mode == "ladder":
                assert ("backward ↑" in words) == (model != "forward_only")
                assert model != "loop" or "MeanAllGrad" in words or "ReluGrad" in words
        page.get_by_role("button", name="Fit", exact=True).click()
        page.evaluate(
            "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
        )
        too_small = [line for line in complaints(drawn(page)) if not line.startswith("too small")]
        assert too_small == [], ("fit", width)
        context.close()
