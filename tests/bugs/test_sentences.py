"""The wording of findings: singular and plural, and spaces between Chinese and Latin text."""

from __future__ import annotations

from collections.abc import Iterator

import paddle
import pytest
from paddle import nn

import paddle_lab


class Scaled(nn.Layer):
    """A network with parameters that nothing reads."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.main = nn.Linear(2, 1)
        for name in names:
            setattr(self, name, self.create_parameter([1]))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.main(x)


@pytest.fixture
def in_chinese() -> Iterator[None]:
    paddle_lab.language("zh")
    yield
    paddle_lab.language("en")


def unreached(*names: str) -> str:
    with paddle_lab.trace(check="unreached-parameter") as trace:
        net = Scaled(*names)
        optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
        net(paddle.ones([1, 2])).sum().backward()
        optimizer.step()
    (finding,) = trace.findings
    return finding.message


def test_one_parameter_is_an_it() -> None:
    assert unreached("temperature").endswith(": no op reads it.")
    assert unreached("temperature", "shift").endswith(": no op reads them.")


@pytest.mark.usefixtures("in_chinese")
def test_a_latin_name_after_chinese_has_a_space_before_it() -> None:
    assert unreached("temperature").endswith("没有任何算子读取它。")
    with paddle_lab.trace(check="nan-origin") as trace:
        x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
        paddle.sqrt(x).sum().backward()
    message = trace.findings[0].message
    assert "，因为 sqrt" in message
