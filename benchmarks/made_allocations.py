"""Records with any number of allocations, in three shapes, for the benchmarks of memory.

The ops, layers and lines come from one real training step of a 96-layer language model. The blocks
of the first shape do too; in the other shapes, the lifetimes of blocks are made up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

import paddle_lab
from benchmarks.gpt import work
from paddle_lab.api import Trace
from paddle_lab.trace.record import Record
from paddle_lab.trace.table import Table

Columns = dict[str, npt.NDArray[np.int64]]


def traced_step(*, blocks: int = 96) -> Record:
    """Return the record of a model's second training step. The optimizer states exist by then."""
    step = work(blocks, is_step=True)
    with paddle_lab.memory() as trace:
        step()
    return trace.record


def training_loop(step: Record, count: int) -> Trace:
    """Return the step repeated: temporaries in ops, nested activations, and blocks that stay."""
    blocks = _columns(step)
    own = np.flatnonzero(blocks["start_ns"] >= 0)
    before = np.flatnonzero(blocks["start_ns"] < 0)
    duration_ns = step.origin.duration_ns
    repeats = -(-(count - len(before)) // len(own))
    rows = np.concatenate([before, np.tile(own, repeats)])[:count]
    shift_ns = np.repeat(np.arange(repeats) * duration_ns, len(own))
    shift_ns = np.concatenate([np.zeros(len(before), np.int64), shift_ns])[:count]
    found = {name: column[rows] for name, column in blocks.items()}
    is_own = found["start_ns"] >= 0
    found["start_ns"] = np.where(is_own, found["start_ns"] + shift_ns, -1)
    # A block that outlives its step ends in the next step; a block from before the trace stays.
    end_ns = np.where(found["end_ns"] < 0, duration_ns + 1000, found["end_ns"]) + shift_ns
    found["end_ns"] = np.where(is_own & (end_ns < repeats * duration_ns), end_ns, -1)
    ends_ns = np.asarray(step.steps["time_ns"], dtype=np.int64)
    return _made(
        step,
        found,
        duration_ns=repeats * duration_ns,
        step_ends_ns=(ends_ns[:, None] + np.arange(repeats) * duration_ns).ravel(),
    )


def random_lives(step: Record, count: int) -> Trace:
    """Return blocks of all sizes that end in random order; some never end."""
    random = np.random.default_rng(0)
    duration_ns = 20_000_000_000
    found = _drawn(step, count, random)
    start = np.sort(random.integers(0, duration_ns, count))
    end = start + (random.pareto(1.2, count) * 2e6).astype(np.int64) + 1000
    found["start_ns"] = start
    found["end_ns"] = np.where(end > duration_ns, -1, end)
    found["bytes"] = (2 ** random.uniform(8, 22, count)).astype(np.int64)
    found["address"] = random.integers(0, 1 << 30, count) * 256
    return _made(step, found, duration_ns=duration_ns)


def tiny_temporaries(step: Record, count: int) -> Trace:
    """Return blocks that are freed after a microsecond, and some blocks that stay."""
    random = np.random.default_rng(0)
    gap_ns = 2_000
    found = _drawn(step, count, random)
    start = np.arange(count, dtype=np.int64) * gap_ns + random.integers(0, gap_ns // 2, count)
    stays = random.random(count) < 0.002
    end = np.where(stays, -1, start + random.integers(200, 3 * gap_ns, count))
    found["start_ns"], found["end_ns"] = start, np.where(end > count * gap_ns, -1, end)
    found["bytes"] = np.where(stays, 1 << 16, random.integers(1, 16, count) * 256)
    found["address"] = random.integers(0, 1 << 20, count) * 4096
    return _made(step, found, duration_ns=count * gap_ns)


SHAPES: dict[str, Callable[[Record, int], Trace]] = {
    "96-layer training loop": training_loop,
    "random lives": random_lives,
    "tiny temporaries": tiny_temporaries,
}


def _columns(record: Record) -> Columns:
    table = record.tables["allocations"]
    return {name: np.asarray(column, dtype=np.int64) for name, column in table.columns.items()}


def _drawn(step: Record, count: int, random: np.random.Generator) -> Columns:
    """Return random blocks of the step, with ops, lines and kinds of a real run."""
    blocks = _columns(step)
    rows = random.choice(np.flatnonzero(blocks["start_ns"] >= 0), count)
    return {name: column[rows] for name, column in blocks.items()}


def _made(
    step: Record,
    blocks: Columns,
    *,
    duration_ns: int,
    step_ends_ns: npt.NDArray[np.int64] | None = None,
) -> Trace:
    tables = {**step.tables, "allocations": Table(dict(blocks))}
    if step_ends_ns is not None:
        scope = np.full(len(step_ends_ns), -1, dtype=np.int64)
        tables["steps"] = Table({"time_ns": step_ends_ns, "scope": scope})
    # The counters of Paddle come from a single step.
    totals = {name: np.asarray(column) for name, column in step.memory_totals.columns.items()}
    totals["time_ns"] = np.where(totals["time_ns"] > 0, duration_ns, totals["time_ns"])
    tables["memory_totals"] = Table(totals)
    origin = replace(step.origin, duration_ns=duration_ns)
    return Trace(replace(step, tables=tables, origin=origin))
