"""Which group is built unlike its siblings: of 96 blocks in a list, 95 are equal and one is not."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from paddle_lab.analysis.graph.trees import nearest_marked
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES, GROUP_KINDS
from paddle_lab.trace.table import StringPool, Table, TableBuilder
from paddle_lab.words import listing, say

_PLAIN = {GROUP_KINDS.index("layer"), GROUP_KINDS.index("call")}
_INNER = [GROUP_KINDS.index(kind) for kind in ("call", "turn")]
_LIST_MEMBER = re.compile(r"(.*\.)?\d+")
_LEAST_ALIKE = 3
_MOST_ODD = 0.25
"""Where more than this part of the siblings differ, none of them is odd."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class OddSibling:
    """A layer of a list that is built unlike most others of its class in the list."""

    group: int
    """Row in the record's ``groups``."""
    siblings: int
    """Members of its class in the list, itself included."""
    alike: int
    """How many of them are equal."""
    typical: int
    """The first of the equal ones."""
    difference: str
    """What goes on after "it": ``"has dropout, which its siblings have not"``; "" if equal."""

    @property
    def sentence(self) -> str:
        """Like ``"1 of 96 is built differently: it has dropout, which its siblings have not."``."""
        odd = self.siblings - self.alike
        return say("page.siblings.odd", count=odd, size=self.siblings, difference=self.difference)


def odd_siblings(record: Record) -> list[OddSibling]:
    """Return the groups that are built unlike their siblings, in the order of their keys.

    Siblings are members of one list (``blocks.0``, ``blocks.1``, …) that are of one class and that
    one call of a layer has called. At least three of them are equal (see
    `paddle_lab.analysis.graph.structure`), and at most a quarter is not. A layer that ran one op
    is no group to compare.
    """
    odd = [member for member in _members(record) if member.difference]
    return sorted(odd, key=lambda member: member.group)


def odd_sibling_table(record: Record, strings: StringPool) -> Table:
    """Return the ``odd_siblings`` table: odd groups, and those that they differ from."""
    table = TableBuilder(ANSWER_TABLES["odd_siblings"])
    for it in _members(record):
        table.append(it.group, it.typical, it.siblings, it.alike, strings[it.difference])
    return table.build()


def _members(record: Record) -> Iterator[OddSibling]:
    """Yield every member of the families that have odd ones."""
    groups = record.groups
    kinds, classes = groups["kind"].tolist(), groups["class"].tolist()
    structures, op_counts = groups["structure"].tolist(), groups["op_count"].tolist()
    paths = groups["path"].tolist()
    texts = {code: record.text(code) for code in set(paths)}
    lists = {
        code: path.rpartition(".")[0]
        for code, path in texts.items()
        if _LIST_MEMBER.fullmatch(path)
    }
    families = defaultdict[tuple[int, str, int], list[int]](list)
    for group, (caller, kind, class_name) in enumerate(
        zip(_callers(record), kinds, classes, strict=True)
    ):
        is_one_op = op_counts[group] == 1 and kind in _PLAIN
        is_named = paths[group] in lists and record.text(class_name)
        if is_named and op_counts[group] and not is_one_op:
            families[caller, lists[paths[group]], class_name].append(group)
    for members in families.values():
        counts = Counter(structures[group] for group in members if structures[group] >= 0)
        if not counts:
            continue
        structure, alike = counts.most_common(1)[0]
        unlike = len(members) - alike
        if alike < _LEAST_ALIKE or not unlike or unlike > _MOST_ODD * len(members):
            continue
        typical = next(group for group in members if structures[group] == structure)
        usual = _content(record, typical)
        for group in members:
            is_odd = structures[group] != structure
            difference = _difference(*_content(record, group), *usual) if is_odd else ""
            yield OddSibling(group, len(members), alike, typical, difference)


def _callers(record: Record) -> list[int]:
    """Return the group that called each: the one around it, beyond turns and functions."""
    kinds, parents = record.groups["kind"].tolist(), record.groups["parent"].tolist()
    callers: list[int] = []
    for parent in parents:
        callers.append(callers[parent] if parent >= 0 and kinds[parent] in _INNER else parent)
    return callers


def _content(record: Record, group: int) -> tuple[list[str], list[str]]:
    """Return the names of the ops in a group, in order, and the classes of the groups in it."""
    parents = record.groups["parent"]
    is_marked = np.arange(len(parents)) == group
    inside = nearest_marked(parents, is_marked) == group
    op_groups = record.op_groups["group"]
    ops = np.flatnonzero((op_groups >= 0) & inside[op_groups])
    names = [record.text(code) for code in record.ops["name"][ops].tolist()]
    inner = np.flatnonzero(inside & ~is_marked)
    classes = [record.text(code) for code in record.groups["class"][inner].tolist()]
    return names, [name for name in classes if name]


def _difference(
    ops: list[str], classes: list[str], usual_ops: list[str], usual_classes: list[str]
) -> str:
    parts = _differences_of_counts(ops, usual_ops)
    if not parts and ops != usual_ops:
        return say("page.siblings.order")
    parts = parts or _differences_of_counts(classes, usual_classes)
    return say("page.siblings.and").join(parts) or say("page.siblings.connects")


def _differences_of_counts(own: list[str], usual: list[str]) -> list[str]:
    here, there = Counter(own), Counter(usual)
    added = [name for name in here if name not in there]
    missing = [name for name in there if name not in here]
    other = [
        say("page.siblings.other_count", here=count, name=name, there=there[name])
        for name, count in here.items()
        if there[name] not in (0, count)
    ]
    return [
        *([say("page.siblings.has", names=_listed(added))] if added else []),
        *([say("page.siblings.lacks", names=_listed(missing))] if missing else []),
        *([say("page.siblings.has_other", names=_listed(other))] if other else []),
    ]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    if more > 0:
        some = say("page.siblings.between").join(names[:_MOST_NAMED])
        return say("page.siblings.and_more", some=some, n=more)
    return listing(names)
