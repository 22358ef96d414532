"""The PyLayer calls of one trace: their ops, and their backward calls."""

from __future__ import annotations

import weakref
from typing import Any

from paddle_lab.capture.rows.cells import NO_KEY
from paddle_lab.capture.rows.tape import Tape


class PyLayerCalls:
    """Calls of ``PyLayer.apply``, by their scopes."""

    def __init__(self) -> None:
        self.results = Tape()
        """For each result, the PyLayer's op, and the tensor that one of its inner ops made."""
        self.ops: dict[int, int] = {}
        """Maps a call's scope to the PyLayer's own op."""
        self.forward_of: dict[int, int] = {}
        """Maps the scope of a PyLayer's backward to the scope of its forward."""
        self._contexts: dict[int, tuple[weakref.ref[Any], int]] = {}

    def note_context(self, context: Any, scope: int) -> None:
        """Note which call made a context object."""
        self._contexts[id(context)] = (weakref.ref(context), scope)

    def scope_of(self, context: Any) -> int:
        """Return the scope of the call that made ``context``, or -1."""
        known = self._contexts.get(id(context))
        return known[1] if known is not None and known[0]() is context else NO_KEY

    def forget(self, scopes: set[int]) -> None:
        """Forget calls by their scopes, and the contexts that have died."""
        for of_scope in (self.ops, self.forward_of):
            for scope in scopes.intersection(of_scope):
                del of_scope[scope]
        for identity, (context, _) in list(self._contexts.items()):
            if context() is None:
                del self._contexts[identity]
