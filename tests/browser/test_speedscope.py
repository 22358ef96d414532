"""Speedscope's own page opens our file of host times."""

from __future__ import annotations

import base64
import json

import paddle
import pytest

import paddle_lab
from tests.browser.speedscope_page import RELEASE

pytestmark = pytest.mark.browser


def test_its_own_reader_shows_the_profile(browser, tmp_path):
    with paddle_lab.trace(title="Cell 7") as trace:
        x = paddle.ones([8, 8])
        x.stop_gradient = False
        (x @ x).sum().backward()
    data = trace.to_speedscope(tmp_path / "cell.json").read_bytes()
    # Speedscope's own command passes a file to its page in this way.
    script = tmp_path / "profile.js"
    packed = base64.b64encode(data).decode()
    script.write_text(f"speedscope.loadFileFromBase64({json.dumps('cell.json')}, '{packed}')")
    page = browser.new_page(viewport={"width": 1100, "height": 700})
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
    page.goto(f"{(RELEASE / 'index.html').as_uri()}#localProfilePath={script}")
    page.get_by_text("the cell's thread").first.wait_for()
    assert "Cell 7" in page.title()
    page.get_by_text("Sandwich").click()
    for name in ("matmul", "Tensor.backward", "outside Paddle's ops"):
        page.get_by_text(name, exact=True).first.wait_for()
    assert trouble == []
