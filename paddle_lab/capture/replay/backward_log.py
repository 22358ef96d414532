"""Notes backward calls, the gradients that they leave in leaves, and those that user code returns.

A backward call runs again as a whole. Two things do not: a PyLayer's ``backward`` and a hook on a
tensor, because they are the user's code. What they returned is noted instead.
"""

from __future__ import annotations

import inspect
import weakref
from _thread import get_ident
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.noting import Call, Note, noted, noting
from paddle_lab.capture.evidence.values.memory import bytes_at, memory_of
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.replay.call_tape import CallTape, is_valid, version_of
from paddle_lab.capture.replay.calls import HOOK, Special
from paddle_lab.capture.replay.held import Held, HeldTensors
from paddle_lab.capture.rows.cells import LARGEST_VERSION, NO_KEY, NO_VERSION, VERSION_BITS
from paddle_lab.capture.rows.object_table import ObjectTable

_NEXT_HOOK: Final = ObjectTable()
"""The number that Paddle gives to the next hook of a leaf, if the user has put none on it."""
_ROWS: Final = -1
"""Stands for the address of rows of an embedding: no gradient replaces them."""


class Noting(Protocol):
    """The log of calls."""

    tape: CallTape
    held: HeldTensors
    special: dict[int, Special]

    def begin(
        self, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> int:
        """Note a call that is about to run."""

    def hold(self, tensor: Any) -> int:
        """Hold a tensor that no noted op made, and return its new number."""

    def hold_written(self) -> None:
        """Hold the tensors that were written without an op."""

    def keep_unseen(self, tensor: Any) -> None:
        """Copy values that are about to be overwritten without an op."""


@dataclass(slots=True)
class BackwardCall:
    """A backward call, as positions in the tape."""

    at: int
    first: int
    """How many cells ``tape.results`` had when the call began."""
    end: int
    """How many cells it had when the call returned."""
    length: int
    """How many cells ``tape.calls`` had when the call began."""
    leaves: list[tuple[Any, int, int, _Gradient | None]] = field(default_factory=list)
    """While it runs: each leaf, its number, the address of the gradient it had, and what was noted
    of it."""


@dataclass(slots=True)
class _Gradient:
    number: int
    leaf: Any
    version: int | None
    """``None`` after an op wrote the gradient: the next version counts."""
    is_cleared: bool = False
    """Whether it consists of zeros that no call in the tape makes yet. The next gradient replaces
    them."""


class BackwardLog:
    """All backward calls of one trace.

    Parameters
    ----------
    paddle
        The paddle module.
    recorder
        The recorder whose calls are noted.
    log
        The log of calls.
    """

    def __init__(self, paddle: Any, recorder: Recorder, log: Noting) -> None:
        self._paddle, self._recorder, self._log = paddle, recorder, log
        self._copied = inspect.unwrap(DOOR.copy_to)
        self._detached = inspect.unwrap(paddle.Tensor.detach)
        self.calls: list[BackwardCall] = []
        """In the order in which they began."""
        self.passed: dict[int, list[int]] = {}
        """By the position of a call of a PyLayer or of a hook's registration: the positions at
        which gradients were noted that this user code returned, one for each backward call."""
        self.pylayers: dict[int, int] = {}
        """The position of each PyLayer's call, by the key of the op."""
        self._repeats = not paddle.distributed.is_initialized()
        """Whether backward calls run again alone give the gradients of the leaves."""
        self._running: dict[int, list[BackwardCall]] = {}
        self._gradients: dict[int, _Gradient] = {}
        """By address: the gradients of leaves that noted calls made."""
        self._watched = ObjectTable()
        """For each tensor with hooks: where it is in ``_hooks``."""
        self._hooks: list[tuple[Any, int, list[int]]] = []
        """A tensor with hooks, our own hook after them, and its rows in ``passed``."""
        self.grads: dict[int, int] = {}
        """By thread: the position of a call of ``paddle.grad`` that is about to be recorded."""

    def patches(self) -> list[AttributePatch]:
        """Return the patches that note backward calls, hooks and cleared gradients."""
        clearing = self._paddle.Tensor, "clear_gradient"
        return [
            noted("register_grad_hook", self._note_hook),
            noted("register_void_hook", before=self._note_void_hook),
            noted("run_backward", self._after_backward, before=self._before_backward),
            noted("run_partial_grad", self._after_grad, before=self._before_grad),
            noted(clearing, before=self._before_clearing),
            AttributePatch(self._paddle.Tensor, "grad", around_set(self._before_setting)),
        ]

    def close(self) -> None:
        """Remove our hooks from the user's tensors."""
        for reference, hook, _ in self._hooks:
            if (tensor := reference()) is not None:
                DOOR.remove_grad_hook(tensor, hook)
        self._hooks.clear()
        self._running.clear()

    @property
    def is_running(self) -> bool:
        """Whether a backward call runs in this thread."""
        return bool(self._running.get(get_ident()))

    # -- gradients of leaves ------------------------------------------------------------------

    def find(self, tensor: Any) -> int:
        """Return the number of a leaf's gradient that a noted call made, or -1.

        Each read of ``leaf.grad`` makes another Python object, so the address is looked up. It may
        be another tensor's by now, so the leaf must still have its gradient there.
        """
        address = address_of(tensor) if self._gradients else 0
        known = self._gradients.get(address)
        leaf = None if known is None else known.leaf()
        gradient = None if leaf is None else leaf.grad
        if known is None or gradient is None or address_of(gradient) != address:
            return -1
        if gradient.shape != tensor.shape or not self._is_same(known, tensor):
            return -1
        if known.is_cleared:
            self._note_zeros(known, tensor)
        return known.number

    def _is_same(self, known: _Gradient, gradient: Any) -> bool:
        version = version_of(gradient)
        if known.version is None:
            known.version = version
        return known.version == version and is_valid(self._log.tape, known.number)

    def _note_zeros(self, known: _Gradient, gradient: Any) -> None:
        known.is_cleared = False
        zeros = self._paddle.zeros
        at = self._log.begin(zeros, "zeros", (gradient.shape, gradient.dtype), None)
        if at >= 0:
            self._log.tape.results.extend((-1, at, 0, 1, known.number))

    def note_write(self, tensor: Any) -> None:
        """Note that an op is about to write a tensor, which may be a leaf's gradient."""
        if (known := self._gradients.get(tensor.data_ptr())) is not None:
            known.version = None

    def note_held(self, tensor: Any, held: Held) -> None:
        """Note a tensor that no noted op made. After some, backward calls do not run again."""
        if held.has_history or held.lost is not None:
            self._repeats = False
        if held.tensor is not None and not tensor.stop_gradient and _was_hooked(tensor):
            self._watch(tensor)

    def _take(self, leaf: Any, gradient: Any, address: int, *, is_cleared: bool = False) -> int:
        storage, version = NO_KEY, NO_VERSION
        if DOOR.is_dense(gradient):
            storage = address - DOOR.storage_offset(gradient)
            version = DOOR.inplace_version(gradient) & LARGEST_VERSION
        number = self._log.tape.take(storage)
        self._gradients[address] = _Gradient(number, weakref.ref(leaf), version, is_cleared)
        return number

    def _before_setting(self, recorder: Recorder, call: Call) -> None:
        if recorder is self._recorder and (gradient := call.args[0].grad) is not None:
            self._log.keep_unseen(gradient)

    def _before_clearing(self, recorder: Recorder, call: Call) -> None:
        leaf, *set_to_zero = call.args
        gradient = leaf.grad if recorder is self._recorder else None
        if gradient is None:
            return
        self._log.keep_unseen(gradient)
        # It may also be told to release the memory. Some rows of an embedding have other zeros.
        is_filled = not call.kwargs and set_to_zero in ([], [True]) and DOOR.is_dense(gradient)
        if is_filled and self._repeats and (address := address_of(gradient)):
            self._take(leaf, gradient, address, is_cleared=True)

    # -- backward calls -----------------------------------------------------------------------

    def _before_backward(self, recorder: Recorder, call: Call) -> None:
        if recorder is not self._recorder:
            return
        self._log.hold_written()
        leaves = []
        for leaf, packed in self._log.tape.numbers.living():
            if packed >= 0 and not leaf.stop_gradient and leaf.is_leaf:
                gradient, address, known = leaf.grad, 0, None
                if gradient is not None:
                    address = address_of(gradient)
                    # From now on, other values may be there.
                    known = self._gradients.pop(address, None)
                    if known and (known.leaf() is not leaf or not self._is_same(known, gradient)):
                        known = None
                leaves.append((leaf, packed >> VERSION_BITS, gradient, address, known))
        # The next gradient replaces one that was cleared. It is added to all others.
        older = [one[2] for one in leaves if one[2] is not None and one[4] is None]
        is_held = self._repeats and not all(map(_begins_with_zeros, older))
        noted_leaves = []
        for leaf, number, gradient, address, known in leaves:
            before, earlier = address, known
            if gradient is not None and not (known is not None and known.is_cleared):
                if not DOOR.is_dense(gradient):
                    before = _ROWS
                if known is None and is_held:
                    # Hooks on the gradient itself do not matter.
                    old = gradient if before == _ROWS else self._detached(gradient)
                    earlier = _Gradient(self._log.hold(old), weakref.ref(leaf), None)
                self._log.keep_unseen(gradient)
            noted_leaves.append((leaf, number, before, earlier))
        self._begun("run_backward", call).leaves = noted_leaves

    def _after_backward(self, recorder: Recorder, _call: Call) -> None:
        if recorder is not self._recorder:
            return
        call, tape = self._ended(), self._log.tape
        leaves, call.leaves = call.leaves, []
        # User code that ran in between may have changed gradients, too.
        if call.at < 0 or not self._repeats or self.is_running or len(tape.calls) != call.length:
            return
        special = self._log.special.setdefault(call.at, Special())
        made = []
        for leaf, number, before, known in leaves:
            gradient = leaf.grad
            if gradient is not None and (address := address_of(gradient)):
                earlier = -1
                if before in (_ROWS, address):  # the new gradient was added, or there is none
                    if known is None:  # its values are lost
                        self._repeats = False
                        self._gradients.clear()
                        return
                    if known.is_cleared:
                        self._note_zeros(known, gradient)
                    earlier = known.number
                made.append(self._take(leaf, gradient, address))
                special.leaves.append(number)
                special.earlier.append(earlier)
        tape.results.extend((-1, call.at, 1, len(made), *made))

    def _before_grad(self, recorder: Recorder, call: Call) -> None:
        if recorder is self._recorder:
            self._log.hold_written()
            self._begun("run_partial_grad", call)

    def _after_grad(self, recorder: Recorder, _call: Call) -> None:
        if recorder is self._recorder:
            self.grads[get_ident()] = self._ended().at

    def _begun(self, name: str, call: Call) -> BackwardCall:
        tape = self._log.tape
        at = self._log.begin(inspect.unwrap(DOOR.now(name)), name, call.args, call.kwargs)
        begun = BackwardCall(at, len(tape.results), len(tape.results), len(tape.calls))
        self.calls.append(begun)
        self._running.setdefault(get_ident(), []).append(begun)
        return begun

    def _ended(self) -> BackwardCall:
        call = self._running[get_ident()].pop()
        call.end = len(self._log.tape.results)
        return call

    # -- the user's code in a backward call ---------------------------------------------------

    def note_pylayer(self, key: int, at: int) -> None:
        """Note a call of a PyLayer. Its ``backward`` may change gradients of leaves."""
        self._repeats = False
        self.pylayers[key] = at

    def note_passed(self, at: int, returned: Any) -> None:
        """Note the gradients that user code returned.

        Parameters
        ----------
        at
            The position of the call of the PyLayer, or of the registration of the hook.
        returned
            The gradients, in order.
        """
        returned = returned if isinstance(returned, (tuple, list)) else (returned,)
        row = self._log.begin(None, "gradients", tuple(map(self._kept, returned)), None)
        self.passed.setdefault(at, []).append(row)

    def _note_void_hook(self, recorder: Recorder, _call: Call) -> None:
        self._repeats = self._repeats and recorder is not self._recorder

    def _note_hook(self, recorder: Recorder, call: Call) -> None:
        if recorder is self._recorder:
            self._watch(call.args[0])

    def _watch(self, tensor: Any) -> None:
        """Note the gradients that the hooks of a tensor return from now on."""
        self._repeats = False
        at = self._log.begin(HOOK, "hook", (tensor,), None)
        if at < 0:
            return
        number = self._log.tape.calls.to_list(at + 2, at + 3)[0] >> 1
        self._log.tape.results.extend((-1, at, 1, 1, number))
        known = self._watched.find(tensor)
        rows: list[int] = []
        if known >= 0:  # our hook has to be the last one
            _, hook, rows = self._hooks[known]
            DOOR.remove_grad_hook(tensor, hook)
        self.passed[at] = rows
        log = weakref.ref(self)

        def see(gradient: Any) -> None:  # what the user's hooks have made of the gradient
            if (mine := log()) is not None:
                mine.note_passed(at, gradient)

        self._watched.note(tensor, len(self._hooks))
        self._hooks.append((weakref.ref(tensor), DOOR.register_grad_hook(tensor, see), rows))

    def _kept(self, gradient: Any) -> Any:
        """Return a copy of a gradient that no noted op made: Paddle may write into its memory."""
        if not isinstance(gradient, self._paddle.Tensor):
            return gradient
        packed = self._log.tape.numbers.find(gradient)
        # An op that wrote it in place may be left out: see CallLog.calls_before().
        if packed < 0 or packed >> VERSION_BITS in self._log.held.by_number:
            return self._copied(gradient, gradient.place, True)  # noqa: FBT003
        return gradient


def around_set(before: Note) -> Callable[[Any], property]:
    """Return a function that wraps an attribute of tensors, to be told before it is set."""

    def around(descriptor: Any) -> property:
        write = noting(descriptor.__set__, before=before)
        return property(descriptor.__get__, write, doc=descriptor.__doc__)

    return around


def address_of(tensor: Any) -> int:
    """Return the address of a tensor's values; 0 if it has none, or is sparse.

    The gradient of an embedding may be some of its rows. These are values, too.
    """
    if not DOOR.is_initialized(tensor):
        return 0
    if DOOR.is_dense(tensor):
        return tensor.data_ptr() or 0
    is_rows = DOOR.has("sparse_values") and DOOR.is_selected_rows(tensor)
    return DOOR.tensor_of_selected_rows(tensor).data_ptr() if is_rows else 0


def _begins_with_zeros(gradient: Any) -> bool:
    place = memory_of(gradient, 256)
    return place is not None and not bytes_at(*place).raw.strip(b"\0")


def _was_hooked(leaf: Any) -> bool:
    """Tell whether a leaf ever had a hook. Paddle numbers hooks, so a new hook's number says it."""
    if not leaf.is_leaf:
        return False
    hook = DOOR.register_grad_hook(leaf, lambda _gradient: None)
    DOOR.remove_grad_hook(leaf, hook)
    expected = max(_NEXT_HOOK.find(leaf), 0)
    _NEXT_HOOK.note(leaf, hook + 1)
    return bool(hook > expected)
