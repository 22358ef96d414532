"""Puts guards around the expressions of code that Paddle has translated for static graphs.

A guard gets its expression as a function, so a run can continue when the expression raises.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

from paddle_lab.capture.door import DOOR

_GUARDS = "__import__('paddle_lab.capture.export.guards', fromlist=['guards']).run"
_UNGUARDED = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
_STATEMENTS = ("Assign", "AugAssign", "Expr", "Return")


class Place(NamedTuple):
    """A line of the user's source."""

    file: str
    line: int


class GuardedTranslation:
    """Translates functions as Paddle does, and adds the guards. It replaces Paddle's translator.

    Parameters
    ----------
    translate
        Paddle's method, which takes a syntax tree and returns the translated one.
    """

    def __init__(self, translate: Callable[[Any], Any]) -> None:
        self._translate = translate
        self.places: list[Place] = []
        """Maps the number of each guard to the guard's place."""
        self.exits: dict[Place, Place] = {}
        """Maps a loop to the first ``if`` in it that contains a ``break`` or ``return``."""
        self.returns: list[Place] = []
        """Each ``if`` that contains a ``return``."""
        self.ifs: dict[Place, int] = {}
        """The last line of each ``if``."""
        self.unread: set[int] = set()
        """Guards of values that the user's function assigns to names, but never reads."""
        self._read: set[str] = set()
        self._loops: list[tuple[Place, int]] = []

    def get_static_ast(self, root: Any) -> Any:
        """Return the translated syntax tree with guards."""
        self._note_ranges(root)
        names = [one for one in DOOR.gast.walk(root) if isinstance(one, DOOR.gast.Name)]
        self._read = {one.id for one in names if isinstance(one.ctx, DOOR.gast.Load)}
        root = self._translate(root)
        self._block(root.body, {})
        return root

    def _note_ranges(self, root: Any) -> None:
        for node in DOOR.gast.walk(root):
            kind = type(node).__name__
            if kind not in ("For", "While", "If"):
                continue
            inner = list(DOOR.gast.walk(node))
            end = max(_place(one).line for one in inner)
            if kind == "If":
                self.ifs[_place(node)] = end
                if any(type(one).__name__ == "Return" for one in inner):
                    self.returns.append(_place(node))
                continue
            self._loops.append((_place(node), end))
            tests = [one for one in inner if type(one).__name__ == "If" and any(
                type(leaf).__name__ in ("Break", "Return") for leaf in DOOR.gast.walk(one)
            )]  # fmt: skip
            if tests:
                self.exits[_place(node)] = _place(tests[0])

    def _loop_around(self, place: Place) -> Place:
        """Return the innermost loop around a line."""
        around = [start for start, stop in self._loops
                  if start.file == place.file and start.line <= place.line <= stop]  # fmt: skip
        return max(around, default=place)

    def _block(self, statements: list[Any], loops: dict[str, int]) -> None:
        """Guard the statements of a block. ``loops`` has the guard of each loop's condition."""
        place = Place("", 0)
        for index, statement in enumerate(statements):
            name = type(statement).__name__
            if name == "FunctionDef":
                inner: dict[str, int] = {}
                self._block(statement.body, inner)
                last = statement.body[-1] if statement.body else None
                number = getattr(last, "guard", None)
                if number is not None:
                    loops[statement.name] = number
                if "_body_" in statement.name:
                    place = min((one for one in map(_place, DOOR.gast.walk(statement)) if one.line),
                                default=place, key=lambda one: one.line)  # fmt: skip
            elif name == "Try":
                continue  # the user's own try statement
            elif name in _STATEMENTS and statement.value is not None:
                self._statement(statement, loops, place)
                if name == "Assign" and not isinstance(statement.targets[0], DOOR.gast.Name):
                    statements[index] = self._caught(statement)
            else:
                for field in ("body", "orelse"):
                    self._block(getattr(statement, field, []), loops)

    def _statement(self, statement: Any, loops: dict[str, int], body: Place) -> None:
        """Guard a statement's value. The latest loop above it has its body at ``body``."""
        value, place = statement.value, _place(statement)
        if any(type(node).__name__ in {one.__name__ for one in _UNGUARDED}
               for node in DOOR.gast.walk(value)):  # fmt: skip
            return
        kind = _conversion(value)
        condition = -1
        if kind == "IfElse":
            value.args[0], condition = self._guarded(value.args[0], place, -1)
        elif kind == "While":
            condition = loops.get(_first_name(value.args[0]), -1)
            place = self._loop_around(body)
        else:
            value = self._calls(value, place)
        statement.value, statement.guard = self._guarded(value, place, condition)
        names = [getattr(one, "id", None) for one in getattr(statement, "targets", ())]
        if names and None not in names and self._read.isdisjoint(names):
            self.unread.add(statement.guard)

    def _calls(self, value: Any, place: Place) -> Any:
        """Guard the user's calls inside an expression. The expression itself has another guard."""
        for node in list(DOOR.gast.walk(value)):
            for field, child in DOOR.gast.iter_fields(node):
                if _is_user_call(child):
                    setattr(node, field, self._guarded(child, place, -1)[0])
                elif isinstance(child, list):
                    child[:] = [
                        self._guarded(one, place, -1)[0] if _is_user_call(one) else one
                        for one in child
                    ]
        return value

    def _guarded(self, value: Any, place: Place, condition: int) -> tuple[Any, int]:
        number = len(self.places)
        inner = min((one for one in map(_place, DOOR.gast.walk(value)) if one.line), default=place)
        self.places.append(place if place.line else inner)
        source = f"{_GUARDS}.value({number}, {condition}, lambda: 0, None)"
        call = DOOR.gast.parse(source).body[0].value
        call.args[2].body = value
        if condition >= 0:  # a whole ``if`` or loop: Paddle reads its variables with this function
            call.args[3] = deepcopy(value.args[{"IfElse": 3, "While": 2}[_conversion(value)]])
        return call, number

    def _caught(self, statement: Any) -> Any:
        number = len(self.places)
        self.places.append(_place(statement))
        source = f"try:\n 0\nexcept Exception as __fault:\n {_GUARDS}.failed({number}, __fault)"
        block = DOOR.gast.parse(source).body[0]
        block.body[0] = statement
        return block


def _place(node: Any) -> Place:
    origin = getattr(node, DOOR.origin_info, None)
    return Place(origin.location.filepath, origin.location.lineno) if origin else Place("", 0)


def _conversion(node: Any) -> str:
    """Return the name of the conversion that a node calls: ``IfElse`` for ``_jst.IfElse(…)``."""
    function = getattr(node, "func", None)
    owner = getattr(getattr(function, "value", None), "id", "")
    return function.attr if function is not None and owner == "_jst" else ""


def _is_user_call(node: Any) -> bool:
    if type(node).__name__ != "Call":
        return False
    return _conversion(node.func) == "Call" or _conversion(node) == "AsDtype"


def _first_name(node: Any) -> str:
    return next((one.id for one in DOOR.gast.walk(node)
                 if type(one).__name__ == "Name" and one.id != "_jst"), "")  # fmt: skip
