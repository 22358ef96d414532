"""Layers that differ from their siblings: of 96 blocks in a list, one is not like the others."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES, GROUP_KINDS
from paddle_lab.trace.table import StringPool, Table, TableBuilder
from paddle_lab.trace.trees import nearest_marked
from paddle_lab.words import listing, say

_PLAIN = {GROUP_KINDS.index("layer"), GROUP_KINDS.index("call")}
_INNER = [GROUP_KINDS.index(kind) for kind in ("call", "turn")]
_LIST_MEMBER = re.compile(r"(.*\.)?\d+")
_LEAST_ALIKE = 3
_MOST_ODD = 0.25
"""If more than this share of the siblings differ, none of them is reported."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class OddSibling:
    """A layer of a list that is built differently from most layers of its class in this list."""

    group: int
    """Row in the record's ``groups``."""
    siblings: int
    """How many members of the list have the same class, including this layer."""
    alike: int
    """How many of these members are equal to each other."""
    typical: int
    """The first of the equal ones."""
    difference: str
    """Text after "it": ``"has dropout, which its siblings have not"``; "" if equal."""

    @property
    def sentence(self) -> str:
        """Return a sentence: ``"1 of 96 is built differently: it has dropout, … "``."""
        odd = self.siblings - self.alike
        return say("page.siblings.odd", count=odd, size=self.siblings, difference=self.difference)


def odd_siblings(record: Record) -> list[OddSibling]:
    """Return the groups that differ from their siblings, by key, of a record with answer tables."""
    table = record.odd_siblings
    columns = (table[name].tolist() for name in ("group", "siblings", "alike", "typical"))
    texts = map(record.text, table["difference"].tolist())
    members = map(OddSibling, *columns, texts)
    return sorted((one for one in members if one.difference), key=lambda member: member.group)


def odd_sibling_table(record: Record, strings: StringPool) -> Table:
    """Return the ``odd_siblings`` table: members that differ from most of their siblings.

    Siblings are members of one list (``blocks.0``, ``blocks.1``, …) of the same class, called
    inside the same layer call. At least three of them must be equal (see
    `paddle_lab.analysis.graph.structure`), and at most a quarter different. A layer that ran only
    one op is not compared.
    """
    table = TableBuilder(ANSWER_TABLES["odd_siblings"])
    structures = record.groups["structure"].tolist()
    for members in _families(record):
        counts = Counter(structures[group] for group in members if structures[group] >= 0)
        structure, alike = counts.most_common(1)[0] if counts else (-1, 0)
        unlike = len(members) - alike
        if alike < _LEAST_ALIKE or not unlike or unlike > _MOST_ODD * len(members):
            continue
        typical = next(group for group in members if structures[group] == structure)
        usual = _content(record, typical)
        for group in members:
            is_odd = structures[group] != structure
            difference = _difference(_content(record, group), usual) if is_odd else ""
            table.append(group, typical, len(members), alike, strings[difference])
    return table.build()


def _families(record: Record) -> Iterable[list[int]]:
    """Return groups of siblings: members of one list, of one class, called in one layer."""
    groups = record.groups
    names = ("kind", "parent", "op_count", "path", "class")
    kinds, parents, op_counts, paths, classes = (groups[name].tolist() for name in names)
    families = defaultdict[tuple[int, str, int], list[int]](list)
    callers: list[int] = []
    # Do this once for each path of a layer, because many groups have the same path.
    layers = {path for path, code in zip(paths, classes, strict=True) if record.text(code)}
    names_of_lists = {path: _name_of_list(record.text(path)) for path in layers}
    for group, parent in enumerate(parents):
        # The nearest group around this group that is not an iteration or a function.
        callers.append(callers[parent] if parent >= 0 and kinds[parent] in _INNER else parent)
        is_small = op_counts[group] < 1 + (kinds[group] in _PLAIN)
        if not is_small and record.text(classes[group]) and (name := names_of_lists[paths[group]]):
            families[callers[group], name, classes[group]].append(group)
    return families.values()


def _name_of_list(path: str) -> str:
    """Return the path of the list that has the layer as a member, ``""`` if there is none."""
    return path.rpartition(".")[0] if _LIST_MEMBER.fullmatch(path) else ""


def _content(record: Record, group: int) -> tuple[Counter[str], Counter[str]]:
    """Count the names of the ops and the classes of the groups inside a group."""
    parents = record.groups["parent"]
    is_marked = np.arange(len(parents)) == group
    inside = nearest_marked(parents, is_marked) == group
    ops = np.append(inside, False)[record.op_groups["group"]]
    names, classes = record.ops["name"][ops], record.groups["class"][inside & ~is_marked]
    counted = (Counter(map(record.text, codes.tolist())) for codes in (names, classes))
    of_ops, of_classes = counted
    del of_classes[""]
    return of_ops, of_classes


def _difference(own: Iterable[Counter[str]], usual: Iterable[Counter[str]]) -> str:
    for here, there in zip(own, usual, strict=True):
        other = [
            say("page.siblings.other_count", here=count, name=name, there=there[name])
            for name, count in here.items()
            if there[name] not in (0, count)
        ]
        differences = {
            "has": [name for name in here if name not in there],
            "lacks": [name for name in there if name not in here],
            "has_other": other,
        }
        if any(differences.values()):
            return say("page.siblings.and").join(
                say(f"page.siblings.{key}", names=listing(names, most=_MOST_NAMED))
                for key, names in differences.items()
                if names
            )
    return say("page.siblings.connects")
