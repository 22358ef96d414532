"""A trace in words and figures."""

from __future__ import annotations

from paddle_lab.trace.record import Record


def one_line(record: Record) -> str:
    """Return the trace's title and counts in one line."""
    title = f"{record.origin.title}, " if record.origin.title else ""
    ops, grad_nodes = len(record.ops), len(record.grad_nodes)
    return f"{title}{ops:,} ops, {grad_nodes:,} grad nodes, {milliseconds(record.origin.duration_ns)}"


def milliseconds(duration_ns: int) -> str:
    """Return a duration with a unit that suits its size."""
    if duration_ns < 1_000_000:
        return f"{duration_ns / 1e3:.0f} µs"
    if duration_ns < 1_000_000_000:
        return f"{duration_ns / 1e6:.3g} ms"
    return f"{duration_ns / 1e9:.3g} s"
