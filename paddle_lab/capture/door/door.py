"""Looks up Paddle's private names once, and reports the features that lack one."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from types import GetSetDescriptorType
from typing import Any, Final

from paddle_lab.capture.door.table import FEATURES, LATE
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.words import listing, say

_PATHS: Final = {name: path for names, _ in FEATURES.values() for name, path in names.items()}
_PROPERTIES: Final = (property, cached_property, GetSetDescriptorType)
_OF_INSTANCES: Final = "()"
"""A path has this after a class whose ``__init__`` sets the attribute."""


class Door:
    """Paddle's private names as attributes: ``DOOR.is_initialized(tensor)``.

    All names are looked up when the first name is needed. Before code uses a name, it calls
    :meth:`has` with the name's feature. Hooks of a feature that is off are not installed.
    """

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for missing attributes. Before the first look-up, all names are
        # missing.
        if name in _PATHS and "_missing" not in vars(self) and self._missing is not None:
            return getattr(self, name)
        raise AttributeError(say("notices.door.no_name", name=_PATHS.get(name, name)))

    @cached_property
    def _missing(self) -> dict[str, list[str]]:
        """The features that are off, and the names that Paddle lacks for each of them."""
        return {
            feature: lacking
            for feature in FEATURES
            if feature not in LATE and (lacking := self._look_up(feature))
        }

    @cached_property
    def _late(self) -> dict[str, bool]:
        """The late features that were looked up, and whether Paddle has their names."""
        return {}

    def _look_up(self, feature: str) -> list[str]:
        """Set the names of a feature as attributes. Return the names that Paddle lacks."""
        lacking = []
        for name, path in FEATURES[feature].names.items():
            found = _found(path)
            if found is None:
                lacking.append(path)
            else:
                setattr(self, name, found)
        return lacking

    def has(self, feature: str) -> bool:
        """Tell whether Paddle has all names that a feature needs."""
        if feature in LATE and feature not in self._late:
            with suppress(ImportError):
                import_module(LATE[feature])
            lacking = self._look_up(feature)
            self._late[feature] = not lacking
            if lacking:
                self._missing[feature] = lacking
        return feature not in self._missing and "tensors" not in self._missing

    def notices(self, wanted: Collection[str]) -> list[str]:
        """Return a sentence for each feature that is off.

        Parameters
        ----------
        wanted
            What the trace should record, as in :attr:`Feature.wanted_by`.
        """
        return [
            say(
                "notices.door.off",
                feature=_described(feature),
                names=listing(paths),
                version=sys.modules["paddle"].__version__,
            )
            for feature, paths in self._missing.items()
            if FEATURES[feature].wanted_by in wanted
            and (feature == "tensors" or "tensors" not in self._missing)
        ]

    def lacking(self, *features: str) -> list[str]:
        """Return the names that Paddle lacks for some features."""
        wanted = ("tensors", *features) if self.has("tensors") else ("tensors",)
        return [path for feature in wanted for path in self._missing.get(feature, ())]

    def failure_notice(self, feature: str, fault: str) -> str:
        """Return the notice about a feature that failed although Paddle has its names."""
        return say("notices.door.failed", feature=_described(feature), fault=fault)

    def now(self, name: str) -> Any:
        """Return the current object of a name to which Paddle assigns new objects again and again.

        Parameters
        ----------
        name
            A name in the table, of a feature that is on.
        """
        return _found(_PATHS[name])

    def patch(self, name: str, make_replacement: Callable[[Any], Any]) -> AttributePatch:
        """Return a patch of the class or module attribute behind a name.

        Parameters
        ----------
        name
            A name in the table, of a feature that is on.
        make_replacement
            Gets Paddle's object, and returns its replacement.
        """
        owner, _, attribute = _PATHS[name].rpartition(".")
        return AttributePatch(_found(owner), attribute, make_replacement)


def _found(path: str) -> Any:
    """Return the object at a path, or ``None``. For a property, return a function that reads it."""
    owner, is_of_instances, attribute = path.partition(f"{_OF_INSTANCES}.")
    first, *names = owner.split(".")
    found: Any = sys.modules[first]
    for name in names:
        found = getattr(found, name, None)
    if not is_of_instances:
        # An instance is needed to read a property.
        return attrgetter(names[-1]) if isinstance(found, _PROPERTIES) else found
    code = getattr(inspect.unwrap(getattr(found, "__init__", found)), "__code__", None)
    return attrgetter(attribute) if attribute in getattr(code, "co_names", ()) else None


def _described(feature: str) -> str:
    return say(f"notices.door.feature.{feature}")


DOOR = Door()
