"""Saves the state before code runs, and restores it to run the code again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.hooks import HOOKS
from paddle_lab.capture.rerun.contents import put_back, restores
from paddle_lab.capture.rerun.reach import Reached, Unrepeatable
from paddle_lab.capture.rerun.tensor_state import refuse_entangled, states_of
from paddle_lab.words import listing, say


class StateBefore:
    """The state that code can reach, before it runs: values, gradients, names, generators.

    Parameters
    ----------
    paddle
        The paddle module.
    roots
        Where the search begins: functions, and the values of the names in the code.
    names
        Dictionaries in which the code may assign names, such as the notebook's variables.

    Raises
    ------
    Unrepeatable
        If the code cannot run twice.
    """

    def __init__(
        self, paddle: Any, roots: Iterable[Any], names: Iterable[dict[str, Any]] = ()
    ) -> None:
        lacking = DOOR.lacking("reruns", "random_state", "gradients")
        if lacking:
            raise Unrepeatable(say("notices.unchecked.door", names=listing(lacking)))
        if not paddle.in_dynamic_mode():  # copying a tensor would add an op to the program
            raise Unrepeatable(say("notices.unchecked.static_program"))
        self._paddle = paddle
        self._reached = Reached(paddle.Tensor)
        self._reached.enter(roots)
        # Add these dictionaries without searching them, because the code does not use all of their
        # values.
        known = {id(one) for one in self._reached.containers}
        self._reached.containers += [one for one in names if id(one) not in known]
        with HOOKS.suspended(), paddle.no_grad():
            self._tensors = states_of(paddle, self._reached.tensors)
        self._restores = restores(paddle, self._reached)

    def refuse_cleared(self) -> None:
        """Refuse a second run if the first run cleared gradients that it would need.

        Raises
        ------
        Unrepeatable
            If there were gradients before the first run, and the run cleared them.
        """
        with HOOKS.suspended(), self._paddle.no_grad():
            if any(state.lost_gradient for state in self._tensors):
                raise Unrepeatable(say("notices.unchecked.cleared"))

    def refuse_hooked(self, tensors: Collection[int]) -> None:
        """Refuse a second run if the first one changed the hooks of an older tensor.

        Parameters
        ----------
        tensors
            The ids of tensors whose hooks have changed.

        Raises
        ------
        Unrepeatable
            If an older tensor is among them, because a second run would register the hook twice.
        """
        if any(id(tensor) in tensors for tensor in self._reached.tensors):
            raise Unrepeatable(say("notices.unchecked.hooks"))

    @contextmanager
    def again(self) -> Iterator[None]:
        """Restore the saved state in a ``with`` block. After the block restore the current state.

        Raises
        ------
        Unrepeatable
            If the effects of the first run cannot be undone. Then nothing is changed.
        """
        refuse_entangled(self._tensors)
        afterwards = restores(self._paddle, self._reached)
        grad_enabled = self._paddle.is_grad_enabled()
        # If one of the restores fails, the others still run.
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
