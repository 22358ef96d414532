"""The only difference between intercepted calls and Paddle's log of ops: their names.

Measured on paddlepaddle 3.3.1 over all of ``tests.models``, call by call:

===========================  ====================================================================
call                         logged
===========================  ====================================================================
``_C_ops.NAME``              ``NAME``
``_C_ops.linear``            ``matmul add``, without a bias ``matmul``
``_C_ops.sparse_NAME``       ``NAME``
tensor + - * number          ``scale``; ``cast scale`` for integers with a fraction;
                             ``full NAME`` for NumPy scalars and Booleans, ``cast full add`` for
                             complex ones
tensor / number              ``div_scale``, ``cast div_scale``
number / tensor, //, %,      ``full NAME``
comparisons with a number
tensor ** number             ``pow``; number ** tensor: ``full elementwise_pow``
tensor ** tensor             ``elementwise_pow``
tensor[index]                nothing for ``[...]``, else the ops in ``_GETITEM``
tensor[index] = value        the ops in ``_SETITEM``
``Tensor.clone``             ``assign``
``PyLayer.apply``            nothing: the ops inside it log themselves
``paddle.grad``              nothing: see :attr:`tests.oracles.ApiLog.hidden_ops`
``_legacy_C_ops.NAME``       nothing; the oracle sees them by a profile function, as ``NAME``
``to_static`` functions      likewise, as ``run_program``
===========================  ====================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Names = tuple[str, ...]

_ARITHMETIC = {"add", "subtract", "multiply"}
_COMPARISONS = {"equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"}
_WITH_NUMBERS = {*_ARITHMETIC, *_COMPARISONS, "divide", "floor_divide", "remainder"}

_GETITEM: tuple[Names, ...] = (
    (),
    ("slice",),
    ("strided_slice",),
    ("unsqueeze",),
    ("slice", "unsqueeze"),
    ("strided_slice", "unsqueeze"),
    ("index_elementwise_get",),
    ("slice", "index_elementwise_get"),
    ("strided_slice", "index_elementwise_get"),
    ("masked_select",),
    ("full", "unsqueeze", "nonzero", "slice", "index_elementwise_get"),
)
_SETITEM: tuple[Names, ...] = tuple(
    (*cast, *names)
    for cast in ((), ("cast",))
    for names in (
        ("set_value_",),
        ("set_value_with_tensor_",),
        ("index_elementwise_put_",),
        ("index_elementwise_put_with_tensor_",),
        ("full", "masked_fill_"),
        ("unsqueeze", "full", "masked_fill_"),
        ("nonzero", "slice", "slice", "index_elementwise_put_with_tensor_"),
    )
)
_SILENT = {"paddle.grad"}


class Call(NamedTuple):
    """One op of a trace, as far as its name in the log depends on it."""

    name: str
    tensor_inputs: int
    logs: bool = True
    """``False`` for a PyLayer."""


def logged_as(call: Call) -> tuple[Names, ...]:
    """Return the sequences of names that Paddle may log for one call."""
    name = call.name
    if not call.logs or name in _SILENT:
        return ((),)
    if name == "getitem":
        return _GETITEM
    if name == "setitem":
        return _SETITEM
    if name == "clone":
        return (("assign",),)
    if name == "linear":
        return (("matmul", "add"),) if call.tensor_inputs == 3 else (("matmul",),)
    if name.startswith("sparse_"):
        return ((name,), (name.removeprefix("sparse_"),))
    if name == "pow":
        if call.tensor_inputs == 2:
            return (("elementwise_pow",),)
        return (("pow",), ("full", "elementwise_pow"))
    if name in _WITH_NUMBERS and call.tensor_inputs == 1:
        scaled = {"divide": "div_scale"}.get(name, "scale")
        with_number = (("full", name), ("cast", "full", name), (name,))
        scales = name in _ARITHMETIC or name == "divide"
        return (*with_number, (scaled,), ("cast", scaled)) if scales else with_number
    return ((name,),)


class Disagreement(AssertionError):
    """The calls and the log contain different ops."""


def explain(
    calls: Sequence[Call],
    logged: Sequence[str],
    *,
    may_be: Callable[[int, int], bool] = lambda _call, _logged: True,
) -> list[range]:
    """Find the logged ops that each call stands for.

    All ways to read the log are followed at once, since ``getitem`` may log several ops or none.

    Parameters
    ----------
    calls, logged
        Both in order.
    may_be
        Whether a call, by its position, may stand for a logged op, by its position.

    Returns
    -------
    list of range
        One a call: positions in ``logged``, together all of them.

    Raises
    ------
    Disagreement
        If an op on either side has no counterpart on the other.
    """
    reached: list[dict[int, int]] = [{0: 0}]  # after each call: position to the one before the call
    for number, call in enumerate(calls):
        following: dict[int, int] = {}
        for position in reached[-1]:
            for names in logged_as(call):
                end = position + len(names)
                if tuple(logged[position:end]) == names and all(
                    may_be(number, place) for place in range(position, end)
                ):
                    following[end] = max(position, following.get(end, 0))
        if not following:
            position = max(reached[-1])
            before = [call.name for call in calls[max(0, number - 5) : number]]
            raise Disagreement(
                f"call {number}, {call}, is not what was logged next: "
                f"{list(logged[position : position + 5])} (calls before: {before})"
            )
        reached.append(following)
    if len(logged) not in reached[-1]:
        position = max(reached[-1])
        raise Disagreement(
            f"{len(logged) - position} logged ops have no call: {list(logged[position:][:5])}"
        )
    explained = []
    end = len(logged)
    for following in reversed(reached[1:]):
        explained.append(range(following[end], end))
        end = following[end]
    return explained[::-1]
