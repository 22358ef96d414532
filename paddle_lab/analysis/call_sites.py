"""Groups where there are no layers: the user's own function calls, and the turns of their loops.

A trace has stacks, but does not say where one call of a function ends and the next begins. Within
one call, straight code reaches each position once; a position that is reached again is a loop's
turn, or another call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from paddle_lab.analysis.grouping import CALL_SITE, Grouping
from paddle_lab.analysis.loops import LoopFinder
from paddle_lab.analysis.trees import first_ops
from paddle_lab.analysis.turns import Entry, Item, loops
from paddle_lab.analysis.user_frames import user_stacks
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS

_FEWEST_AT_TOP_LEVEL = 8
"""Ops in the whole trace; a few lines need no groups."""
_FEWEST_IN_SCOPE = 41
"""Ops directly in a scope."""
_DEEPEST_NESTING = 6
_LONGEST_CHAIN = 32
"""Calls further in than this, as recursive functions make, are not told apart."""
_COMPREHENSIONS = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")
_OPTIMIZER = SCOPE_KINDS.index("optimizer")


@dataclass
class Body:
    """Items of one function's body, to be divided."""

    parent: int
    items: Sequence[Item]
    depth: int  # of the function's own frame in the items' chains
    nesting: int


def add_call_sites(record: Record, grouping: Grouping) -> None:
    """Divide the top level, and scopes with many direct ops, by function calls and loop turns."""
    direct_ops = Counter(grouping.op_groups)
    crowded = [group for group in range(len(grouping)) if direct_ops[group] >= _FEWEST_IN_SCOPE]
    if len(grouping.op_groups) >= _FEWEST_AT_TOP_LEVEL:
        crowded.append(-1)
    crowded = [group for group in crowded if group < 0 or grouping.kinds[group] != _OPTIMIZER]
    if crowded:
        _Divider(record, grouping).divide(crowded)


class _Divider:
    def __init__(self, record: Record, grouping: Grouping) -> None:
        self._record = record
        self._grouping = grouping
        self._loops = LoopFinder(record)
        self._user_stacks = user_stacks(record).tolist()
        self._frames: list[int] = record.stacks["frame"].tolist()
        self._callers = record.stacks["caller"].tolist()
        texts = record.strings
        self._functions: list[str] = [texts[code] for code in record.frames["function"].tolist()]
        self._lines = record.frames["line"].tolist()
        self._chains: dict[int, tuple[int, ...]] = {-1: ()}

    def divide(self, containers: list[int]) -> None:
        waiting = [self._body(container, items) for container, items in self._items(containers)]
        while waiting:
            body = waiting.pop()
            waiting.extend(self._divide_body(body))

    def _items(self, containers: list[int]) -> list[tuple[int, list[Item]]]:
        grouping, stacks = self._grouping, self._record.ops["stack"].tolist()
        names = self._record.ops["name"].tolist()
        items: dict[int, list[Item]] = {container: [] for container in containers}
        op_groups = np.asarray(grouping.op_groups, np.int32)
        parents = np.asarray(grouping.parents, np.int32)
        for op in np.flatnonzero(np.isin(op_groups, containers)).tolist():
            stack = stacks[op]
            item = Item(op, -1, (stack, names[op]), self._chain(stack))
            items[grouping.op_groups[op]].append(item)
        nested = np.flatnonzero(np.isin(parents, containers))
        first_op = first_ops(parents, op_groups)[nested].tolist() if len(nested) else []
        for group, op in zip(nested.tolist(), first_op, strict=True):
            chain = self._chain_outside_layer(stacks[op])
            identity = (chain, grouping.kinds[group], grouping.texts[group])
            items[grouping.parents[group]].append(Item(op, group, identity, chain))
        for contents in items.values():
            contents.sort()
        return list(items.items())

    def _chain(self, stack: int) -> tuple[int, ...]:
        known = self._chains.get(stack)
        if known is not None:
            return known
        unknown: list[int] = []
        node = stack
        while node not in self._chains and len(unknown) < len(self._callers):
            unknown.append(node)
            user = self._user_stacks[node]
            node = self._callers[user] if user == node else user
        chain = self._chains.get(node, ())
        for node in reversed(unknown):
            is_call = self._user_stacks[node] == node
            if is_call and len(chain) < _LONGEST_CHAIN and not self._is_comprehension(node):
                chain = (*chain, node)
            self._chains[node] = chain
        return chain

    def _chain_outside_layer(self, stack: int) -> tuple[int, ...]:
        chain = self._chain(stack)
        for depth, node in enumerate(chain):
            if depth and self._function(node).rpartition(".")[2] in ("forward", "__call__"):
                return chain[:depth]
        return chain

    def _function(self, stack: int) -> str:
        return self._functions[self._frames[stack]]

    def _is_comprehension(self, stack: int) -> bool:
        return self._functions[self._frames[stack]] in _COMPREHENSIONS

    def _body(self, container: int, items: list[Item]) -> Body:
        """Descend to the function whose body holds all items."""
        chains = [item.chain for item in items if item.chain]
        depth = 0
        if chains:
            low, high = min(chains), max(chains)
            shortest = min(len(chain) for chain in chains)
            while depth < shortest - 1 and low[depth] == high[depth]:
                depth += 1
        return Body(container, items, depth, 0)

    def _divide_body(self, body: Body) -> list[Body]:
        entries = self._entries(body)
        divided: list[Body] = []
        done = 0
        for turns in loops(entries):
            for entry in entries[done : turns[0]]:
                divided.extend(self._place(entry, body))
            is_called_again = turns[0] == 0 and self._is_called_in_loop(body)
            for number, (start, end) in enumerate(pairwise(turns), 1):
                items = [item for entry in entries[start:end] for item in entry.items]
                if len(items) > 1:
                    function = self._function(items[0].chain[body.depth]) if is_called_again else ""
                    label = f"{_short(function)}(…)" if function else f"iteration {number}"
                    group = self._add(body, label, items, is_iteration=True)
                    divided.append(Body(group, items, body.depth, body.nesting + 1))
            done = turns[-1]
        for entry in entries[done:]:
            divided.extend(self._place(entry, body))
        return [body for body in divided if body.nesting <= _DEEPEST_NESTING]

    def _entries(self, body: Body) -> list[Entry]:
        """Cut a body's items where the position in the function, or the call, changes."""
        entries: list[Entry] = []
        items, depth = body.items, body.depth
        lines, frames = self._lines, self._frames
        start = 0
        while start < len(items):
            first = items[start]
            end = start + 1
            if len(first.chain) <= depth + 1:
                node = first.chain[depth] if len(first.chain) > depth else -1
                line = lines[frames[node]] if node >= 0 else -1
                entries.append(Entry((node, first.identity), line, "", items[start:end]))
                start = end
                continue
            node, function = first.chain[depth], self._function(first.chain[depth + 1])
            while end < len(items):
                chain = items[end].chain
                if len(chain) <= depth + 1 or chain[depth] != node:
                    break
                if chain[depth + 1] != first.chain[depth + 1] and (
                    self._function(chain[depth + 1]) != function
                ):
                    break
                end += 1
            calls = self._calls(items[start:end], depth)
            entries += [Entry((node,), self._line(node), function, call) for call in calls]
            start = end
        return entries

    def _calls(self, items: Sequence[Item], depth: int) -> list[Sequence[Item]]:
        """Cut the items of one position into calls of the function that it calls.

        Where the function's first op comes again, it was called again, or begins with a loop. In
        the latter case what follows the loop makes its last turn unlike the others; where nothing
        follows, only the source can tell.
        """
        starts = [i for i, item in enumerate(items) if item.identity == items[0].identity]
        if len(starts) == 1:
            return [items]
        calls = [items[i:j] for i, j in zip(starts, [*starts[1:], len(items)], strict=True)]
        reached = [{item.chain[depth + 1] for item in call} for call in calls]
        if any(nodes != reached[0] for nodes in reached):
            return [items]
        caller, callee = items[0].chain[depth : depth + 2]
        if self._is_in_loop(callee) and not self._is_in_loop(caller):
            return [items]
        return calls

    def _line(self, stack: int) -> int:
        return self._lines[self._frames[stack]] if stack >= 0 else -1

    def _is_in_loop(self, stack: int) -> bool:
        frames, frame = self._record.frames, self._frames[stack]
        where = [int(frames[name][frame]) for name in ("file", "cell", "line")]
        return self._loops.is_in_loop(*where) is True

    def _place(self, entry: Entry, body: Body) -> list[Body]:
        """Make a call's group, unless it would hold one item only, or all that there is."""
        if not entry.function or len(entry.items) < 2:
            return []
        parent = body.parent
        if len(entry.items) < len(body.items):
            parent = self._add(body, f"{_short(entry.function)}(…)", entry.items)
        return [Body(parent, entry.items, body.depth + 1, body.nesting + 1)]

    def _add(
        self, body: Body, label: str, items: Sequence[Item], *, is_iteration: bool = False
    ) -> int:
        group = self._grouping.add(
            kind=CALL_SITE, parent=body.parent, text=label, is_iteration=is_iteration
        )
        self._move(items, group)
        return group

    def _move(self, items: Sequence[Item], group: int) -> None:
        for item in items:
            if item.group >= 0:
                self._grouping.parents[item.group] = group
            else:
                self._grouping.op_groups[item.op] = group

    def _is_called_in_loop(self, body: Body) -> bool:
        """Tell a function that a loop calls from a function that is one loop."""
        chain = body.items[0].chain
        if body.parent >= 0 or body.depth == 0 or len(chain) <= body.depth:
            return False
        return not self._is_in_loop(chain[body.depth])


def _short(function: str) -> str:
    owner, _, name = function.rpartition(".")
    if name == "__init__" and owner:
        name = owner.rpartition(".")[2]
    return "lambda" if name == "<lambda>" else name
