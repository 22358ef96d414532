"""A ReLU always gave only zeros, so the layers before it do not learn.

Contract: a unit learns while some sample makes it positive (Maas et al. 2013).

The check reports a line whose ReLU ran at least three times, always gave only zeros, and was used
by a backward call. It reports a sigmoid or tanh if its mean slope was always near zero. It does not
report single dead units.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning
from paddle_lab.trace.floats import from_bits

_FEWEST = 3
_SATURATED = 3e-3
"""The mean slope of a sigmoid is at most 0.25, that of tanh 1."""


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of ReLUs that gave only zeros, and of saturated sigmoids and tanhs."""
    training, stats = facts.answer(Training), facts.record.value_stats
    row_of = {tensor: row for row, tensor in enumerate(stats["tensor"].tolist())}
    mean, norm = from_bits(stats["mean"]), from_bits(stats["norm"])
    is_used = facts.ops_of_nodes(facts.nodes_of_calls(facts.user_backward_calls))
    by_layer: dict[tuple[int, str], list[tuple[int, bool]]] = {}
    for op in training.forward_ops("relu", "relu_", "sigmoid", "tanh"):
        row = row_of.get(facts.outputs(op)[0], -1)
        if row < 0 or not is_used[op] or stats["elements"][row] < _FEWEST**2:
            continue
        name = facts.op_name(op)
        if name.startswith("relu"):
            is_dead = bool(stats["zeros"][row] == stats["elements"][row])
        else:
            square = float(norm[row]) ** 2 / int(stats["elements"][row])
            slope = float(mean[row]) - square if name == "sigmoid" else 1 - square
            is_dead = slope < _SATURATED
        around = training.layers_around(op)
        layer = int(facts.record.scopes["layer"][around[0]]) if around else -1
        by_layer.setdefault((layer, str(facts.stack(op))), []).append((op, is_dead))
    for found in by_layer.values():
        if len(found) >= _FEWEST and all(is_dead for _, is_dead in found):
            op = found[0][0]
            name = facts.op_name(op)
            kind = "found" if name.startswith("relu") else "saturated"
            yield warning(f"dead-units.{kind}", facts.place(op), op, n=len(found), name=name)


CHECK = Check(
    find=find,
    example="nn.Sequential(nn.Linear(8, 8, bias_attr=nn.initializer.Constant(-20.0)), nn.ReLU())",
    needs=("events", "values"),
    shared_cost="nan-origin",
)
