"""What the ops of Paddle's optimizers read: ``(parameter, gradient, …)``, and what they keep."""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.capture.recorder import INPUT
from paddle_lab.capture.thread_state import OPTIMIZER
from paddle_lab.trace.table import Table

# The only one that does not take its gradient right after the parameter.
_GRADIENT_SLOTS = {"sgd_": 2}


def optimizer_inputs(
    tables: dict[str, Table], strings: list[str]
) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """Iterate over ops of optimizers that may be updates.

    Yields
    ------
    parameters, gradients, others
        Rows of ``tensors`` that an op read where an update reads them; others are the learning
        rate and the optimizer's state.
    """
    ops, uses = tables["ops"], tables["uses"]
    rows = (ops["phase"] == OPTIMIZER).nonzero()[0].tolist()
    names = {op: strings[int(ops["name"][op])] for op in rows}
    by_op: dict[int, dict[int, list[int]]] = {}
    is_input = (uses["role"] == INPUT) & (ops["phase"] == OPTIMIZER)[uses["op"]]
    for op, tensor, slot in zip(
        *(uses[column][is_input].tolist() for column in ("op", "tensor", "slot")), strict=True
    ):
        by_op.setdefault(op, {}).setdefault(slot, []).append(tensor)
    for op, slots in by_op.items():
        gradient_slot = _GRADIENT_SLOTS.get(names[op], 1)
        others = [
            tensor
            for slot, tensors in slots.items()
            if slot not in (0, gradient_slot)
            for tensor in tensors
        ]
        yield slots.get(0, []), slots.get(gradient_slot, []), others
