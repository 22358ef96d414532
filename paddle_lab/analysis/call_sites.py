"""Groups where there are no layers: the user's own function calls, and the turns of their loops.

A trace has stacks, but does not say where one call of a function ends and the next begins. Within
one call, straight code reaches each position once; a position that is reached again is a loop's
turn, or another call.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from paddle_lab.analysis.grouping import CALL_SITE, Grouping
from paddle_lab.analysis.loops import LoopFinder
from paddle_lab.analysis.trees import first_ops
from paddle_lab.analysis.turns import Entries, loops
from paddle_lab.analysis.user_calls import UserCalls
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS

_FEWEST_AT_TOP_LEVEL = 8
"""Ops in the whole trace; a few lines need no groups."""
_FEWEST_IN_SCOPE = 41
"""Ops directly in a scope."""
_DEEPEST_NESTING = 6
_OPTIMIZER = SCOPE_KINDS.index("optimizer")


@dataclass
class Items:
    """Ops and groups that are directly in one container, in order; one entry of each an item."""

    op: list[int]
    """Key; of a group, its first op's."""
    group: list[int]
    """-1 for an op."""
    identity: list[int]
    """What is equal where the same code runs again."""
    chain: list[int]
    """Last of the user's stacks that led to it, -1 for none: see :class:`UserCalls`."""


@dataclass
class Body:
    """Items of one function's body, to be divided: from ``start`` to, and without, ``end``."""

    items: Items
    start: int
    end: int
    parent: int
    depth: int  # of the function's own frame in the items' chains
    nesting: int


def add_call_sites(record: Record, grouping: Grouping) -> None:
    """Divide the top level, and scopes with many direct ops, by function calls and loop turns."""
    direct_ops = np.bincount(grouping.op_groups + 1, minlength=len(grouping) + 1)[1:]
    crowded: list[int] = np.flatnonzero(direct_ops >= _FEWEST_IN_SCOPE).tolist()
    crowded = [group for group in crowded if grouping.kinds[group] != _OPTIMIZER]
    if len(grouping.op_groups) >= _FEWEST_AT_TOP_LEVEL:
        crowded.append(-1)
    if crowded:
        _Divider(record, grouping).divide(crowded)


class _Divider:
    def __init__(self, record: Record, grouping: Grouping) -> None:
        self._record = record
        self._grouping = grouping
        self._loops: LoopFinder | None = None
        self._calls_to = UserCalls(record)

    def divide(self, containers: list[int]) -> None:
        waiting = [self._body(container, items) for container, items in self._items(containers)]
        while waiting:
            body = waiting.pop()
            waiting.extend(self._divide_body(body))

    def _items(self, containers: list[int]) -> list[tuple[int, Items]]:
        grouping, ops, calls = self._grouping, self._record.ops, self._calls_to
        op_groups, parents = grouping.op_groups, np.asarray(grouping.parents, np.int32)
        nested = np.flatnonzero(np.isin(parents, containers))
        first_op = first_ops(parents, op_groups)[nested] if len(nested) else nested
        direct = np.flatnonzero(np.isin(op_groups, containers))
        stacks = ops["stack"].astype(np.int64)
        codes = int(ops["name"].max(initial=0)) + 1
        outside: dict[int, int] = {}
        nested_ends = calls.ends[stacks[first_op]].tolist()
        nested_chains = [self._outside_layer(end, outside) for end in nested_ends]
        alike: dict[tuple[int, int, str], int] = {}
        # Of ops: the stack, and the op's name. Of groups: -2 and below.
        nested_identity = [
            -2 - alike.setdefault((chain, grouping.kinds[group], grouping.texts[group]), len(alike))
            for chain, group in zip(nested_chains, nested.tolist(), strict=True)
        ]
        op = np.concatenate((direct, first_op))
        order = np.argsort(op, kind="stable")
        container = np.concatenate((op_groups[direct], parents[nested]))[order]
        group = np.concatenate((np.full(len(direct), -1), nested))[order]
        identity = np.concatenate(
            ((stacks[direct] + 1) * codes + ops["name"][direct], np.array(nested_identity, int))
        )[order]
        chain = np.concatenate((calls.ends[stacks[direct]], np.array(nested_chains, int)))[order]
        columns = (op[order], group, identity, chain)
        found: list[tuple[int, Items]] = []
        for one in containers:
            rows = np.flatnonzero(container == one)
            found.append((one, Items(*(column[rows].tolist() for column in columns))))
        return found

    def _outside_layer(self, end: int, known: dict[int, int]) -> int:
        """Return what is left of a chain that goes into a layer's own code."""
        if end not in known:
            chain, calls = self._calls_to.chain(end), self._calls_to
            names = [calls.functions[node].rpartition(".")[2] for node in chain]
            inner = (d for d, name in enumerate(names) if d and name in ("forward", "__call__"))
            depth = next(inner, len(chain))
            known[end] = chain[depth - 1] if chain else -1
        return known[end]

    def _body(self, container: int, items: Items) -> Body:
        """Descend to the function whose body holds all items."""
        calls = self._calls_to
        ends = {end for end in items.chain if end >= 0}
        shortest = min((calls.lengths[end] for end in ends), default=0)
        depth = 0
        while depth < shortest - 1:
            at = calls.at_depth(depth)
            if len({at[end] for end in ends}) > 1:
                break
            depth += 1
        return Body(items, 0, len(items.op), container, depth, 0)

    def _divide_body(self, body: Body) -> list[Body]:
        entries = self._entries(body)
        divided: list[Body] = []
        done = 0
        for turns in loops(entries):
            divided.extend(self._place_all(entries, done, turns[0], body))
            is_called_again = turns[0] == 0 and self._is_called_in_loop(body)
            for number, (first, last) in enumerate(pairwise(turns), 1):
                start, end = entries.starts[first], entries.starts[last]
                if end - start > 1:
                    function = self._function_at(body, start) if is_called_again else ""
                    label = f"{_short(function)}(…)" if function else f"iteration {number}"
                    group = self._add(body, label, start, end, is_iteration=True)
                    inner = Body(body.items, start, end, group, body.depth, body.nesting + 1)
                    divided.append(inner)
            done = turns[-1]
        divided.extend(self._place_all(entries, done, len(entries.lines), body))
        return [body for body in divided if body.nesting <= _DEEPEST_NESTING]

    def _function_at(self, body: Body, item: int) -> str:
        calls = self._calls_to
        return calls.functions[calls.at_depth(body.depth)[body.items.chain[item]]]

    def _entries(self, body: Body) -> Entries:
        """Cut a body's items where the position in the function, or the call, changes."""
        calls, chain, identity = self._calls_to, body.items.chain, body.items.identity
        functions, lengths, lines = calls.functions, calls.lengths, calls.lines
        caller, callee = calls.at_depth(body.depth), calls.at_depth(body.depth + 1)
        # A call is told by where it is, an op by what it is: -2 and below are taken by groups.
        first_call = -2 - len(self._grouping)
        entries = Entries()
        start = body.start
        while start < body.end:
            at = chain[start]
            node = caller[at]
            if lengths[at] <= body.depth + 1:
                entries.add(identity[start], lines[node], "", start)
                start += 1
                continue
            function = functions[callee[at]]
            end = start + 1
            while end < body.end:
                at = chain[end]
                if lengths[at] <= body.depth + 1 or caller[at] != node:
                    break
                if functions[callee[at]] != function:
                    break
                end += 1
            for again in self._starts_of_calls(body, start, end):
                entries.add(first_call - node, lines[node], function, again)
            start = end
        entries.starts.append(body.end)
        return entries

    def _starts_of_calls(self, body: Body, start: int, end: int) -> list[int]:
        """Return where the calls begin of the function that one position calls.

        Where the function's first op comes again, it was called again, or begins with a loop. In
        the latter case what follows the loop makes its last turn unlike the others; where nothing
        follows, only the source can tell.
        """
        identity, chain = body.items.identity, body.items.chain
        first = identity[start]
        starts = [item for item in range(start, end) if identity[item] == first]
        if len(starts) == 1:
            return starts
        callee = self._calls_to.at_depth(body.depth + 1)
        reached = [
            {callee[at] for at in chain[one:following]}
            for one, following in pairwise([*starts, end])
        ]
        if any(nodes != reached[0] for nodes in reached):
            return starts[:1]
        caller = self._calls_to.at_depth(body.depth)[chain[start]]
        if self._is_in_loop(callee[chain[start]]) and not self._is_in_loop(caller):
            return starts[:1]
        return starts

    def _is_in_loop(self, stack: int) -> bool:
        if self._loops is None:
            self._loops = LoopFinder(self._record)
        frames, frame = self._record.frames, self._record.stacks["frame"][stack]
        where = [int(frames[name][frame]) for name in ("file", "cell", "line")]
        return self._loops.is_in_loop(*where) is True

    def _place_all(self, entries: Entries, first: int, last: int, body: Body) -> list[Body]:
        """Make the groups of calls, but of none that holds one item only, or all that there is."""
        placed: list[Body] = []
        for entry, function in enumerate(entries.functions[first:last], first):
            if not function:
                continue
            start, end = entries.starts[entry], entries.starts[entry + 1]
            if end - start < 2:
                continue
            parent = body.parent
            if end - start < body.end - body.start:
                parent = self._add(body, f"{_short(function)}(…)", start, end)
            placed.append(Body(body.items, start, end, parent, body.depth + 1, body.nesting + 1))
        return placed

    def _add(
        self, body: Body, label: str, start: int, end: int, *, is_iteration: bool = False
    ) -> int:
        grouping, items = self._grouping, body.items
        group = grouping.add(
            kind=CALL_SITE, parent=body.parent, text=label, is_iteration=is_iteration
        )
        for op, nested in zip(items.op[start:end], items.group[start:end], strict=True):
            if nested >= 0:
                grouping.parents[nested] = group
            else:
                grouping.op_groups[op] = group
        return group

    def _is_called_in_loop(self, body: Body) -> bool:
        """Tell a function that a loop calls from a function that is one loop."""
        end = body.items.chain[body.start]
        if body.parent >= 0 or body.depth == 0 or self._calls_to.lengths[end] <= body.depth:
            return False
        return not self._is_in_loop(self._calls_to.at_depth(body.depth)[end])


def _short(function: str) -> str:
    owner, _, name = function.rpartition(".")
    if name == "__init__" and owner:
        name = owner.rpartition(".")[2]
    return "lambda" if name == "<lambda>" else name
