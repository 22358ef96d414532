"""The text after memory was freed."""

from __future__ import annotations

import pytest

from paddle_lab.magics.freed_text import freed_text

_MIB = 1024**2


@pytest.mark.parametrize(
    ("let_go", "by_letting_go", "from_cycles", "said"),
    [
        (["Out[5]"], 2, 0, "Freed 2.00 MiB by releasing Out[5]."),
        (["_", "_", "Out[5]"], 2, -1, "Freed 2.00 MiB by releasing _ and Out[5]."),
        ([], 0, 1, "Freed 1.00 MiB from reference cycles."),
        # Other code freed memory in the meantime.
        ([], 2, 1, "Freed 1.00 MiB from reference cycles."),
        ([], 2, 0, "Nothing to free: no tensor is held only by an output or a traceback."),
        (
            ["Out[5]"],
            0,
            0,
            "Released Out[5], but no memory was freed: something else still holds it.",
        ),
        (
            [f"Out[{number}]" for number in range(9)],
            2,
            1,
            (
                "Freed 3.00 MiB: 2.00 MiB by releasing Out[0], Out[1], Out[2], Out[3], Out[4], "
                "Out[5] and 3 more, 1.00 MiB from reference cycles."
            ),
        ),
    ],
)
def test_what_came_back_is_one_sentence(
    let_go: list[str], by_letting_go: int, from_cycles: int, said: str
) -> None:
    text = freed_text(
        let_go, by_letting_go_bytes=by_letting_go * _MIB, from_cycles_bytes=from_cycles * _MIB
    )
    assert text == said
