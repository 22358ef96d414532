"""Finds the forward op to which each op of a backward belongs."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_lab.programs.program import Op


def paired(backward: Sequence[Op], forward: Sequence[Op]) -> dict[int, Op]:
    """Return the forward op of each backward op, by the ``id`` of the backward op.

    ``matmul_grad`` belongs to the ``matmul`` with which it shares most values. Another op, such as
    a sum of gradients, belongs to the same forward op as the gradient op that reads its output.
    """
    holders: dict[int, list[Op]] = {}
    named: dict[str, list[Op]] = {}
    for op in forward:
        named.setdefault(op.short_name.rstrip("_"), []).append(op)
        for key in {*op.inputs, *op.outputs} - {-1}:
            holders.setdefault(key, []).append(op)
    pairs: dict[int, Op] = {}
    taken: set[int] = set()
    for op in backward:
        name = op.short_name.rstrip("_").removesuffix("_grad")
        if not op.computes or name not in named:
            continue
        shared: dict[int, int] = {}
        near = [other for key in {*op.inputs} - {-1} for other in holders.get(key, ())]
        for other in near:
            if other.short_name.rstrip("_") == name:
                shared[id(other)] = shared.get(id(other), 0) + 1
        best = max(
            (other for other in near if id(other) in shared),
            key=lambda other: (shared[id(other)], id(other) not in taken),
            default=None,
        )
        if best is None and (op.blocks or op.short_name.rstrip("_") != name):
            left = (other for other in reversed(named[name]) if id(other) not in taken)
            best = next(left, None)
        if best is not None:
            pairs[id(op)] = best
            taken.add(id(best))
    _pair_the_rest(backward, pairs)
    return pairs


def _pair_the_rest(backward: Sequence[Op], pairs: dict[int, Op]) -> None:
    users: dict[int, Op] = {}
    for op in reversed(backward):
        of = pairs.get(id(op)) or next((users[key] for key in op.outputs if key in users), None)
        if of is not None:
            pairs[id(op)] = of
            users.update(dict.fromkeys(op.inputs, of))
    made_by: dict[int, Op] = {}
    for op in backward:
        of = pairs.get(id(op)) or next((made_by[key] for key in op.inputs if key in made_by), None)
        if of is not None:
            pairs[id(op)] = of
            made_by.update(dict.fromkeys(op.outputs, of))
            # What is left in a branch, such as a gradient of zeros, belongs to the ``if``.
            for inner in (one for block in op.blocks for one in block.ops):
                pairs.setdefault(id(inner), of)
