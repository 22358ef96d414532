"""How many ops a trace keeps, and which ops it keeps if more ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from paddle_lab.words import say
from paddle_lab.words.suggestion import suggestion

Keep = Literal["newest", "first", "steps"]
"""``newest``: the ops that ran last. ``first``: the ops that ran first; recording then stops.
``steps``: training steps spread over the whole run, always the first and the newest."""

KEEPS: Final[tuple[Keep, ...]] = get_args(Keep)
DEFAULT_OPS: Final = 200_000
"""A running trace holds up to twice as many ops. Each op takes about 900 bytes."""
DEFAULT_REPLAY_MB: Final = 2_000
"""How many megabytes of tensors a trace holds at most, to compute values again later."""
ALLOCATIONS_PER_OP: Final = 5
"""How many allocations are kept at most for each op of the limit. Training steps make fewer.
A running trace holds up to twice as many allocations. Each takes about 150 bytes."""
EXACT: Final = -1
"""The number of decimals of a digest of values that were not rounded."""
CHECKSUMS: Final = -2
"""In place of decimals: the digest is an MD5 that Paddle wrote, of values rounded somehow."""
PADIFF: Final = -3
"""In place of decimals: the digest is an MD5 of an array that PaDiff saved."""
_MOST_DECIMALS: Final = 12
_MORE_THAN_RUN: Final = 1 << 48


@dataclass(frozen=True)
class Limit:
    """A limit for the length of a trace."""

    ops: int | None = DEFAULT_OPS
    """The most ops that the trace keeps; ``None`` for all."""
    keep: Keep = "newest"


def limit_of(ops: Any, keep: Any) -> Limit:
    """Return the limit for the arguments ``limit=`` and ``keep=``.

    Raises
    ------
    TypeError
        If ``ops`` is neither a whole number nor ``None``.
    ValueError
        If ``ops`` is less than 1, or ``keep`` is unknown.
    """
    if ops is not None and (isinstance(ops, bool) or not isinstance(ops, int)):
        raise TypeError(say("errors.limit_type", ops=repr(ops)))
    if ops is not None and ops < 1:
        raise ValueError(say("errors.limit_range", ops=ops))
    return Limit(_counted(ops), _keep_of(keep, said="keep="))


def limit_of_text(ops: str, keep: str) -> Limit:
    """Return the limit for the options ``--limit`` and ``--keep`` of a magic.

    Parameters
    ----------
    ops
        Digits, optionally with ``_`` or ``,`` between them, or ``none``.
    keep
        Which ops are kept: ``newest``, ``first`` or ``steps``.

    Raises
    ------
    ValueError
        If ``ops`` or ``keep`` is invalid.
    """
    which = _keep_of(keep, said="--keep")
    if ops.lower() == "none":
        return Limit(None, which)
    try:
        number = int(ops.replace(",", ""))
    except ValueError:
        raise ValueError(say("errors.limit_text", ops=ops)) from None
    if number < 1:
        raise ValueError(say("errors.limit_text_range", ops=ops))
    return Limit(_counted(number), which)


def replay_mb(replay: Any, most: Any) -> int:
    """Return how many megabytes of tensors may be kept for replay; 0 if ``replay`` is false.

    The arguments are the user's ``replay=`` and ``replay_limit=``.

    Raises
    ------
    TypeError
        If ``replay`` is not a bool, or ``most`` is not a whole number.
    ValueError
        If ``most`` is less than 1.
    """
    if not isinstance(replay, bool):
        raise TypeError(say("errors.not_a_flag", option="replay", value=repr(replay)))
    if isinstance(most, bool) or not isinstance(most, int):
        raise TypeError(say("errors.replay_limit", value=repr(most)))
    if most < 1:
        raise ValueError(say("errors.replay_limit", value=most))
    return most if replay else 0


def digest_decimals(digest: Any, decimals: Any) -> int | None:
    """Return to how many decimals values are rounded for digests, ``None`` without digests.

    The arguments are the user's ``digest=`` and ``decimals=``. If values are not rounded, return
    :data:`EXACT`.

    Raises
    ------
    TypeError
        If ``digest`` is neither a bool nor text.
    ValueError
        If ``decimals`` is not 0 to 12, or is given without ``digest``.
    """
    if not isinstance(digest, bool | str):
        raise TypeError(say("errors.not_a_part", option="digest", value=repr(digest)))
    if decimals is None:
        return EXACT if digest else None
    is_number = isinstance(decimals, int) and not isinstance(decimals, bool)
    if not (digest and is_number and 0 <= decimals <= _MOST_DECIMALS):
        raise ValueError(say("errors.decimals", value=repr(decimals), most=_MOST_DECIMALS))
    found: int = decimals
    return found


def _counted(ops: int | None) -> int | None:
    """Return the limit, but at most a number with which sums fit into 64 bits."""
    return None if ops is None else min(ops, _MORE_THAN_RUN)


def _keep_of(keep: Any, *, said: str) -> Keep:
    for known in KEEPS:
        if keep == known:
            return known
    advice = suggestion(str(keep), KEEPS, key="errors.one_of")
    raise ValueError(say("errors.cannot_be", option=said, value=repr(keep), advice=advice))
