"""The state that code begins with, and the runs that begin with it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.hooks import HOOKS
from paddle_lab.capture.rerun.contents import put_back, restores
from paddle_lab.capture.rerun.reach import Reached, Unrepeatable
from paddle_lab.capture.rerun.tensor_state import refuse_entangled, states_of
from paddle_lab.words import listing, say


class StateBefore:
    """What code can reach, as it is before the code runs: values, gradients, names, generators.

    Parameters
    ----------
    paddle
        The paddle module.
    roots
        What the code begins with: functions, the values of the names that it mentions.
    names
        Dicts whose names it may bind, such as a notebook's variables.

    Raises
    ------
    Unrepeatable
        Where the code cannot run twice.
    """

    def __init__(
        self, paddle: Any, roots: Iterable[Any], names: Iterable[dict[str, Any]] = ()
    ) -> None:
        lacking = DOOR.lacking("reruns", "random_state")
        if lacking:
            raise Unrepeatable(say("notices.unchecked.door", names=listing(lacking)))
        if not paddle.in_dynamic_mode():  # where a copy of a tensor would be an op of the program
            raise Unrepeatable(say("notices.unchecked.static_program"))
        self._paddle = paddle
        self._reached = Reached(paddle.Tensor)
        self._reached.enter(roots)
        # The dict alone: what else is in it the code does not mention.
        known = {id(one) for one in self._reached.containers}
        self._reached.containers += [one for one in names if id(one) not in known]
        with HOOKS.suspended(), paddle.no_grad():
            self._tensors = states_of(paddle, self._reached.tensors)
        self._restores = restores(paddle, self._reached)

    def refuse_cleared(self) -> None:
        """Refuse to compare a second run, which would not add to the gradients that were there.

        Raises
        ------
        Unrepeatable
            If there were gradients before the first run, and it cleared them.
        """
        with HOOKS.suspended(), self._paddle.no_grad():
            if any(state.lost_gradient for state in self._tensors):
                raise Unrepeatable(say("notices.unchecked.cleared"))

    @contextmanager
    def again(self) -> Iterator[None]:
        """Put the state back for the length of a block; afterwards all is as it was at its begin.

        Raises
        ------
        Unrepeatable
            Where what the first run did cannot be undone for a while; nothing has changed then.
        """
        refuse_entangled(self._tensors)
        afterwards = restores(self._paddle, self._reached)
        grad_enabled = self._paddle.is_grad_enabled()
        # Whatever fails on the way back, the rest comes back.
        with ExitStack() as way_back:
            way_back.callback(self._paddle.set_grad_enabled, grad_enabled)
            for restore in afterwards:
                way_back.callback(restore)
            for state in self._tensors:
                way_back.callback(self._quietly, state.end)
                self._quietly(state.begin)
            put_back(self._restores)
            yield

    def _quietly(self, move: Callable[[], None]) -> None:
        with HOOKS.suspended(), self._paddle.no_grad():
            move()
