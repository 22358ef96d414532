"""The registry of checks: each :class:`Check` in :mod:`paddle_lab.analysis.findings.checks`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from paddle_lab.analysis.findings import checks as rooms
from paddle_lab.analysis.findings.check import Check, Evidence
from paddle_lab.analysis.findings.switches import switched_off
from paddle_lab.words import say
from paddle_lab.words.suggestion import suggestion

ALL = "all"
DEFAULT = "default"
NONE = "none"


@lru_cache(maxsize=1)
def checks() -> dict[str, Check]:
    """Return all checks by kind, in alphabetical order."""
    modules = (
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(rooms.__path__, f"{rooms.__name__}.")
    )
    found = [one for module in modules for one in vars(module).values() if isinstance(one, Check)]
    return {check.kind: check for check in sorted(found, key=lambda check: check.kind)}


def chosen(selection: str | Sequence[str] | None) -> list[str]:
    """Return the kinds that ``check=`` or ``--check`` asks for.

    Parameters
    ----------
    selection
        ``None`` or ``"default"`` for the checks that cost next to nothing, ``"all"``, ``"none"``, a
        list of kinds, or a text with kinds separated by commas. ``"-same-batch"`` leaves a kind
        out; without another name, out of the default kinds. A kind that is switched off runs only
        if it is named here.

    Raises
    ------
    ValueError
        If a kind is unknown; the message names the nearest one.
    TypeError
        If the selection is neither text nor a list of texts.
    """
    known, selection = checks(), _names(selection)
    if not all(isinstance(kind, str) for kind in selection):
        raise TypeError(say("errors.check_type"))
    names = [*known, DEFAULT, ALL, NONE]
    left_out = {kind.removeprefix("-") for kind in selection if kind.startswith("-")}
    wanted = [kind for kind in selection if not kind.startswith("-")]
    for kind in (*wanted, *left_out):
        if kind not in names or (kind in left_out and kind not in known):
            advice = suggestion(kind, names, key="errors.there_are", listed=list(known), shown=repr)
            raise ValueError(say("errors.no_check", kind=repr(kind), advice=advice))
    off = switched_off()
    groups = {
        DEFAULT: [kind for kind, one in known.items() if is_default(one) and kind not in off],
        ALL: [kind for kind in known if kind not in off],
        NONE: [],
    }
    wanted = wanted or ([DEFAULT] if left_out else [])
    kinds = [one for kind in wanted for one in groups.get(kind, [kind])]
    return [kind for kind in dict.fromkeys(kinds) if kind not in left_out]


def is_default(check: Check) -> bool:
    """Tell whether a check runs without ``check=``, because it costs next to nothing."""
    return set(check.needs) <= {"events"}


def evidence_for(kinds: Iterable[str]) -> frozenset[Evidence]:
    """Return what a trace must record for these checks."""
    return frozenset(need for check in _known(kinds) for need in check.needs)


def rerun_kinds(kinds: Iterable[str]) -> list[str]:
    """Return those of the kinds for which the code must run a second time."""
    return [check.kind for check in _known(kinds) if "rerun" in check.needs]


def needing_more_than(kept: str, kinds: Iterable[str]) -> list[str]:
    """Return those of the kinds that would report false alarms if only some ops were kept.

    Parameters
    ----------
    kept
        The part of the ops that a limited trace kept: see
        :data:`paddle_lab.trace.limit.Keep`.
    """
    return [check.kind for check in _known(kinds) if kept not in (check.holds_on or ())]


def _known(kinds: Iterable[str]) -> Iterator[Check]:
    """Yield the checks of the kinds that are known. A trace of another version may name others."""
    return (checks()[kind] for kind in kinds if kind in checks())


def is_all(selection: str | Sequence[str] | None) -> bool:
    """Tell whether ``check=`` asks for no kind by name."""
    return all(name in {DEFAULT, ALL} or name.startswith("-") for name in _names(selection))


def _names(selection: str | Sequence[str] | None) -> list[str]:
    if selection is None:
        return [DEFAULT]
    if isinstance(selection, str):
        return [name.strip() for name in selection.split(",") if name.strip()]
    return list(selection)


def depth(kind: str) -> int:
    """Return the length of the longest chain of causes that lead to this kind of finding."""
    return max((1 + depth(cause) for cause in checks()[kind].consequence_of), default=0)
