"""Groups while they are being found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_lab.trace.schema import GROUP_KINDS

if TYPE_CHECKING:
    from paddle_lab.analysis.trees import Keys

CALL_SITE = GROUP_KINDS.index("call_site")


class Grouping:
    """A group tree that can still grow: one list entry a group, one number an op in ``op_groups``.

    Parameters
    ----------
    op_groups
        Group key of each op; -1 at the top level.
    """

    def __init__(self, op_groups: Keys) -> None:
        self.op_groups = op_groups
        self.kinds: list[int] = []
        self.parents: list[int] = []
        self.scopes: list[int] = []
        self.texts: list[str] = []
        self.classes: list[str] = []
        self.is_iteration: list[bool] = []

    def __len__(self) -> int:
        return len(self.kinds)

    def add(
        self,
        *,
        kind: int,
        parent: int,
        text: str,
        scope: int = -1,
        class_name: str = "",
        is_iteration: bool = False,
    ) -> int:
        """Append a group and return its key."""
        self.kinds.append(kind)
        self.parents.append(parent)
        self.scopes.append(scope)
        self.texts.append(text)
        self.classes.append(class_name)
        self.is_iteration.append(is_iteration)
        return len(self.kinds) - 1

    def add_scopes(
        self,
        *,
        kinds: list[int],
        parents: list[int],
        scopes: list[int],
        texts: list[str],
        classes: list[str],
    ) -> None:
        """Append a group for each of some scopes."""
        self.kinds += kinds
        self.parents += parents
        self.scopes += scopes
        self.texts += texts
        self.classes += classes
        self.is_iteration += [False] * len(kinds)

    def alike(self, group: int) -> str:
        """Return the text that groups of one structure have in common."""
        if self.kinds[group] != CALL_SITE:
            return f"{self.kinds[group]} {self.classes[group]}"
        return "" if self.is_iteration[group] else self.texts[group]
