"""Returns the findings of ``--check nan-origin`` in a function."""

from __future__ import annotations

import paddle_lab


def findings_of(work):
    with paddle_lab.trace(check="nan-origin") as trace:
        work()
    assert not trace.record.origin.notices
    return trace.findings
