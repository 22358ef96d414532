"""The kind of each block: parameter, gradient, activation, temporary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paddle_lab.capture.memory.attribution.owners import Lifetimes, Owners
from paddle_lab.capture.memory.held.blocks import ALIVE, BEFORE, Blocks
from paddle_lab.capture.memory.log.events import Int64s, Mask
from paddle_lab.capture.recorder.thread_state import OPTIMIZER
from paddle_lab.capture.tables.optimizer_ops import (
    IN_OTHER_PLACE,
    IN_PLACE_OF_GRADIENT,
    IN_PLACE_OF_PARAMETER,
    optimizer_reads,
)
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ALLOCATION_KINDS, PROGRAM_KINDS, TENSOR_KINDS
from paddle_lab.trace.trees import outermost, taken

(
    TEMPORARY, ACTIVATION, SAVED_ACTIVATION, PARAMETER, GRADIENT, OPTIMIZER_STATE, BUFFER, DATA,
    UNKNOWN,
) = range(len(ALLOCATION_KINDS))  # fmt: skip

# If several tensors share a block, the kind with the highest rank is used.
_RANK = {
    UNKNOWN: 0, TEMPORARY: 1, ACTIVATION: 1, SAVED_ACTIVATION: 1, DATA: 2, GRADIENT: 3, BUFFER: 4,
    OPTIMIZER_STATE: 5, PARAMETER: 6,
}  # fmt: skip
_RANKS = np.array([_RANK[kind] for kind in range(len(ALLOCATION_KINDS))] + [0], dtype=np.int64)
"""The rank of each kind. The last entry is for -1, no kind."""

_TENSOR_KINDS = {
    "parameter": PARAMETER,
    "buffer": BUFFER,
    "gradient": GRADIENT,
    "external": DATA,
}


class StoredTensors(NamedTuple):
    """Which tensors are stored in which blocks, found by address."""

    block: Int64s
    tensor: Int64s
    is_alive: Mask
    """Whether the tensor was alive when the trace ended."""
    gradients: Int64s
    """Blocks with the gradient of a living leaf."""
    buffers: list[int]
    """Tensors that are buffers of layers."""


def find_kinds(
    record: Record,
    blocks: Blocks,
    owners: Owners,
    lifetimes: Lifetimes,
    tensor: Int64s,
    stored: StoredTensors,
    step_ends_ns: Int64s,
) -> Int64s:
    """Return the kind of each block.

    Parameters
    ----------
    tensor
        The op's output that each block first held, or -1.
    stored
        The tensors that were found by address.
    step_ends_ns
        When optimizers' steps ended, ascending.
    """
    is_new = blocks.start_ns != BEFORE
    is_alive = blocks.end_ns == ALIVE
    is_held = np.zeros(len(blocks), np.bool_)
    is_held[stored.block[stored.is_alive]] = True
    is_held[stored.gradients] = True
    made = (owners.op >= 0) | (owners.grad_node >= 0)
    in_grad_node = owners.grad_node >= 0
    is_saved = lifetimes.ends_in_backward | (is_alive & ~is_held)
    kinds = np.full(len(blocks), UNKNOWN, dtype=np.int64)
    kinds[made] = ACTIVATION
    kinds[made & is_saved] = SAVED_ACTIVATION
    # An Executor's program has its own parameters and states, and no grad nodes that save tensors.
    kinds[_is_executors(record, owners.op) & is_alive] = UNKNOWN
    # A block that Python computed inside a grad node and freed there is a recomputed activation. A
    # gradient would live longer.
    is_inner_alone = owners.is_inner & lifetimes.ends_in_node
    from_node = in_grad_node & ~lifetimes.ends_in_backward
    kinds[from_node] = np.where(is_inner_alone, ACTIVATION, GRADIENT)[from_node]
    kinds[made & (tensor < 0) & lifetimes.ends_in_maker] = TEMPORARY
    kinds[~is_new & lifetimes.ends_in_backward] = SAVED_ACTIVATION
    # The garbage collector may free a batch or a copy while a node accumulates a gradient.
    is_nodes = in_grad_node | ~(made | owners.is_copy | owners.is_arrival)
    kinds[lifetimes.ends_in_accumulation & is_nodes] = GRADIENT
    of_optimizer = made & (owners.phase == OPTIMIZER) & (kinds != TEMPORARY)
    outlives = _outlives_step(blocks, step_ends_ns)
    kinds[of_optimizer] = np.where(outlives, OPTIMIZER_STATE, TEMPORARY)[of_optimizer]
    is_nameless = is_new & (kinds == UNKNOWN)
    kinds[is_nameless & owners.is_copy] = ACTIVATION
    kinds[is_nameless & owners.is_copy & lifetimes.ends_in_maker] = TEMPORARY
    kinds[is_nameless & owners.is_arrival] = DATA

    kind_of_tensor = _storage_kinds(record, stored.buffers)
    told = taken(kind_of_tensor, tensor)
    kinds = np.where(told >= 0, told, kinds)
    block, told = stored.block, kind_of_tensor[stored.tensor]
    # A tensor allocated by a grad node, but made by no op, is a gradient that user code has read.
    told = np.where((told == DATA) & (in_grad_node & ~owners.is_inner)[block], GRADIENT, told)
    kinds[block[(told < 0) & (kinds[block] == UNKNOWN)]] = ACTIVATION
    # The highest rank is assigned last, so the highest rank remains.
    order = np.argsort(_RANKS[told], kind="stable")
    order = order[(told[order] >= 0) & (_RANKS[told[order]] > _RANKS[kinds[block[order]]])]
    kinds[block[order]] = told[order]
    kinds[stored.gradients] = GRADIENT
    return kinds


def _is_executors(record: Record, op: Int64s) -> Mask:
    """Return which blocks an ``Executor`` allocated."""
    programs = record.programs
    of_executor = programs["op"][programs["kind"] == PROGRAM_KINDS.index("executor")]
    return np.isin(op, of_executor[of_executor >= 0])


def _storage_kinds(record: Record, buffers: list[int]) -> Int64s:
    """Return the kind that each tensor has by itself; -1 for outputs of ops."""
    tensors = record.tensors
    roots = storage_roots(record)
    by_kind = np.array([_TENSOR_KINDS.get(kind, -1) for kind in TENSOR_KINDS], dtype=np.int64)
    own = by_kind[tensors["kind"]]
    # A parameter stays a parameter if an op writes into it in place.
    kinds = np.full(len(tensors), -1, dtype=np.int64)
    order = np.argsort(_RANKS[own], kind="stable")
    kinds[roots[order]] = own[order]
    held = roots[buffers]
    kinds[held[kinds[held] != PARAMETER]] = BUFFER
    kinds[_optimizer_states(record, roots, kinds)] = OPTIMIZER_STATE
    return kinds[roots]


def _outlives_step(blocks: Blocks, step_ends_ns: Int64s) -> Mask:
    """Return which blocks outlived the optimizer step in which they were allocated."""
    step = np.searchsorted(step_ends_ns, blocks.start_ns)
    ends = np.append(step_ends_ns, np.iinfo(np.int64).max)[step]
    is_alive: Mask = (blocks.end_ns == ALIVE) | (blocks.end_ns > ends)
    return is_alive


def storage_roots(record: Record) -> Int64s:
    """Return for each row the first row of the same tensor, from before in-place changes."""
    previous = record.tensors["previous"]
    return outermost(previous).astype(np.int64)


def _optimizer_states(record: Record, roots: Int64s, kinds: Int64s) -> Int64s:
    """Return the tensors that optimizer updates read, except parameters and gradients."""
    op, tensor, place = optimizer_reads(record.tables, record.strings)
    read = roots[tensor]
    # Ops of clipping and weight decay read only a parameter or a gradient.
    has_parameter, has_gradient = np.zeros((2, len(record.ops)), np.bool_)
    has_parameter[op[(place == IN_PLACE_OF_PARAMETER) & (kinds[read] == PARAMETER)]] = True
    has_gradient[op[place == IN_PLACE_OF_GRADIENT]] = True
    states = read[(place == IN_OTHER_PLACE) & has_parameter[op] & has_gradient[op]]
    found: Int64s = states[(kinds[states] != PARAMETER) & (kinds[states] != GRADIENT)]
    return found
