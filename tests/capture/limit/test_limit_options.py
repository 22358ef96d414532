"""``limit=`` and ``keep=``: accepted values, and the error for others."""

from __future__ import annotations

import re
from typing import Any

import paddle
import pytest

import paddle_lab
from paddle_lab.trace.limit import KEEPS, Keep, limit_of_text


@pytest.mark.parametrize("keep", KEEPS)
def test_a_limit_beyond_all_numbers_keeps_all(keep: Keep) -> None:
    x = paddle.rand([2, 2])
    with paddle_lab.memory(limit=10**30, keep=keep) as trace:
        x + x
    assert trace.record.origin.notices == []
    assert [op.name for op in trace.ops] == ["add"]
    assert limit_of_text("9" * 30, keep).ops == 1 << 48


@pytest.mark.parametrize("begin", [paddle_lab.trace, paddle_lab.memory])
@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"limit": 0}, ValueError, "limit= is 1 op or more, or None for all; not 0"),
        ({"limit": 1e6}, TypeError, "limit= is a whole number of ops, such as 100_000, or None"),
        ({"limit": True}, TypeError, "limit= is a whole number of ops"),
        ({"keep": "newst"}, ValueError, "keep= cannot be 'newst'; did you mean newest?"),
        ({"keep": "all"}, ValueError, "it is one of newest, first, steps"),
        ({"limits": 5}, TypeError, "did you mean 'limit'?"),
    ],
)
def test_wrong_options_are_told(
    begin: Any, options: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=re.escape(sentence)):
        begin(**options)
