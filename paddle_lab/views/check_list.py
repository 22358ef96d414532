"""All checks as a table, in text and in HTML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paddle_lab.analysis.findings.check import Check, Evidence
from paddle_lab.analysis.findings.registry import checks
from paddle_lab.analysis.findings.text import Text
from paddle_lab.analysis.text_table import html_table
from paddle_lab.words import language

_HEADER: Final = (
    Text(en="check", zh="检查"),
    Text(en="looks for", zh="查找的问题"),
    Text(en="costs", zh="开销"),
    Text(en="on unless told otherwise", zh="默认开启"),
)
_YES, _NO = Text(en="yes", zh="是"), Text(en="no", zh="否")
_COSTS: Final[dict[Evidence, str]] = {
    "events": "几乎没有",
    "values": "读取每个张量的数值",
    "gradients": "读取每个梯度的数值",
    "rerun": "把代码再运行一次或几次",
    "cuda": "仅 GPU 版本:每个算子前后等待 GPU",
}
"""What evidence costs, where a check says it in English alone."""


class CheckList:
    """The checks, by name; a notebook shows them as a table."""

    def __iter__(self) -> Iterator[Check]:
        return iter(checks().values())

    def __len__(self) -> int:
        return len(checks())

    def __repr__(self) -> str:
        header, rows = self._table()
        blocks = []
        for kind, title, cost, is_on in rows:
            blocks.append(f"{kind}: {title}\n    {header[2]}: {cost}\n    {header[3]}: {is_on}")
        return "\n".join(blocks)

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def _table(self) -> tuple[list[str], list[tuple[str, str, str, str]]]:
        speaks = language()
        rows = [
            (
                check.kind,
                check.title.in_language(speaks),
                check.cost if speaks == "en" else _cost_in_chinese(check),
                (_YES if set(check.needs) <= {"events"} else _NO).in_language(speaks),
            )
            for check in self
        ]
        return [title.in_language(speaks) for title in _HEADER], rows


def _cost_in_chinese(check: Check) -> str:
    return ",".join(_COSTS[need] for need in check.needs)
