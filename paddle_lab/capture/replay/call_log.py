"""Records what the ops of an open trace need to run again later."""

from __future__ import annotations

import inspect
import weakref
from _thread import get_ident
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.collector import Collector, Forgotten
from paddle_lab.capture.evidence.events.noting import Call, noted
from paddle_lab.capture.hooks.patches import AttributePatch
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.replay.backward_log import BackwardCall, BackwardLog, around_set
from paddle_lab.capture.replay.call_tape import is_valid, new_call_tape, version_of
from paddle_lab.capture.replay.calls import (
    PROGRAM,
    PYLAYER,
    WRITE,
    RecordedCall,
    Special,
    recorded_call,
    results_of,
    tensors_in,
)
from paddle_lab.capture.replay.closure import memory_blocks
from paddle_lab.capture.replay.held import Held, HeldTensors
from paddle_lab.capture.replay.op_rules import is_random, written_by
from paddle_lab.capture.replay.program_runs import ProgramRun
from paddle_lab.capture.replay.threads import openmp_threads
from paddle_lab.capture.rows.cells import LARGEST_VERSION, NO_KEY, VERSION_BITS
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.table import StringPool, TableBuilder
from paddle_lab.words import Text

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder

_WRITERS = ("set_value", "copy_", "detach_", "value", "get_tensor", "reconstruct_from_")
"""Methods of ``paddle.Tensor`` that may write a tensor, or change its graph, without an op."""
HOLDING = weakref.WeakSet["CallLog"]()
"""The log of the newest finished trace: no other one holds tensors."""


class CallLog(Collector):
    """The collector of :mod:`paddle_lab.capture.replay`. It fills no table.

    Parameters
    ----------
    recorder
        The recorder whose ops are noted.
    paddle
        The paddle module.
    limit_bytes
        How many bytes of tensors may be held.
    """

    def __init__(self, recorder: Recorder, paddle: Any, limit_bytes: int) -> None:
        self._recorder = recorder
        self._paddle = paddle
        self._type = recorder.tensor_type
        self.tape = new_call_tape(paddle, self)
        self.special: dict[int, Special] = {}
        """What few calls need in addition, by their position in the tape."""
        self.held = HeldTensors(paddle, limit_bytes)
        self.backward = BackwardLog(paddle, recorder, self)
        self.row_keys: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        """The key of the op in each row of the record's table ``ops``."""
        self.refused: Text | None = None
        """Why no value can be computed again; ``None`` if values can be."""
        self.threads = openmp_threads(paddle)
        self.players = weakref.WeakSet[Any]()
        """The replays that run."""
        self._has_written = False
        """Whether memory was written without an op since :meth:`hold_written`."""
        self._pylayers: set[int] = set()
        """The positions of calls of PyLayers."""
        self._program_calls: set[int] = set()
        """The positions of calls of ``to_static``."""
        self._programs: dict[int, ProgramRun] = {}
        """The programs that ran, by ``id``."""
        self._generator = DOOR.default_cpu_generator()
        self._has_device = bool(paddle.is_compiled_with_cuda())
        self._patches: list[AttributePatch] = [
            *(noted((paddle.Tensor, name), before=self._before_write) for name in _WRITERS),
            noted("share_tensor_to", before=self._before_write),
            noted("share_buffer_to", before=self._before_write),
            AttributePatch(paddle.Tensor, "data", around_set(self._before_write)),
            *(self._around_alias((paddle.Tensor, name)) for name in ("detach", "contiguous")),
            *(self._around_alias(name) for name in ("use_gpudnn", "new_shared_tensor")),
            *self.backward.patches(),
        ]

    # -- opening and closing ------------------------------------------------------------------

    def open(self) -> None:
        """Note ops from now on."""
        self.hold_alone()
        self._recorder.call_log, self._recorder.call_tape = self, self.tape
        self.tape.is_open = True
        for patch in self._patches:
            patch.apply()

    def close(self) -> None:
        """Stop noting ops, and copy what the user's code may still change."""
        if self._recorder.call_log is None:
            return
        self.tape.is_open = False
        for patch in reversed(self._patches):
            patch.revert()
        self._recorder.call_log = self._recorder.call_tape = None
        self.backward.close()
        self.held.keep_all()

    def hold_alone(self) -> None:
        """Release the tensors of older traces."""
        for older in {*HOLDING}:
            if not older.players:
                self.held.take_over(older.held)
            older.release(Text("replay.older"))
        HOLDING.clear()

    def forget(self, gone: Forgotten) -> None:
        """Forget dropped ops. Give up if an op after them is kept, since its value needs them."""
        first = min(gone.ops, default=0)
        if any(key >= first and key not in gone.ops for key, *_ in results_of(self.tape)):
            self.release(Text("replay.trimmed"))

    def release(self, why: Text) -> None:
        """Drop all held tensors and all calls, and remember why."""
        self.close()
        self.refused = self.refused or why
        self.tape = new_call_tape(self._paddle, self)
        self._programs = {}
        self.special, self.backward = {}, BackwardLog(self._paddle, self._recorder, self)
        self.held.by_number.clear()

    def add_rows(
        self, _builders: dict[str, TableBuilder], _strings: StringPool, keys: RecordKeys
    ) -> None:
        """Add no rows, but remember the keys of the record's ops."""
        self.row_keys = keys.ops.keys.copy()

    # -- reading ------------------------------------------------------------------------------

    def runs_of(self, number: int, calls: list[RecordedCall]) -> list[RecordedCall]:
        """Return those calls that ran a compiled program, by its number in the record."""
        number_of = self._recorder.programs.number_of
        runs = [one for one in self._programs.values() if number_of(one.program) == number]
        return [call for call in calls if call.function in runs]

    def calls_to(self, key: int | None) -> list[RecordedCall]:
        """Return all calls in order, up to the op with a key; empty if there is no such op."""
        found = self._calls(None, key)
        return found if key is None or (found and found[-1].key == key) else []

    def calls_before(self, backward: BackwardCall) -> list[RecordedCall]:
        """Return all calls before a backward call and inside of it, and then this call."""
        before = self._calls(backward.first)
        inside = self._calls(backward.end)[len(before) :]
        blocks, writes = memory_blocks([*before, *inside], self.tape.storage_of)
        numbers = (number for call in before for number in (*call.reads, *call.made))
        known = {block for number in numbers for block in blocks[number]}
        # What wrote into the memory of earlier tensors may have run after the nodes that read it.
        written = zip(inside, writes[len(before) :], strict=True)
        inside = [call for call, its in written if known.isdisjoint(its)]
        last = recorded_call(self.tape, backward.at, self.special)
        last.special = Special(amp=last.special.amp)
        return [*before, *(call for call in inside if call.at != backward.at), last]

    def _calls(self, end: int | None, key: int | None = None) -> list[RecordedCall]:
        calls = []
        for op, at, builds_graph, made in results_of(self.tape, end):
            call = recorded_call(self.tape, at, self.special)
            call.key, call.made = op, made
            call.builds_graph |= builds_graph and not call.special.without_graph
            call.passed = [
                recorded_call(self.tape, row, self.special)
                for row in self.backward.passed.get(at, ())
            ]
            calls.append(call)
            if op == key:
                break
        return calls

    # -- ops ----------------------------------------------------------------------------------

    def begin(
        self, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> int:
        """Note a call that is about to run. Return its position in the tape, or -1."""
        if self.tape.is_open:
            try:
                return self.tape.begin(function, name, args, kwargs)
            except Exception as fault:  # noqa: BLE001  (the trace goes on without a replay)
                self.fail(fault)
        return -1

    def end(self, key: int, at: int, result: Any) -> None:
        """Note what a call returned. ``at`` is -1 for an op that did not begin here."""
        if not self.tape.is_open:
            return
        try:
            at = self.backward.grads.pop(get_ident(), -1) if at < 0 else at
            tensors = list(tensors_in(result, self._type))
            if at in self._pylayers:
                self.backward.note_pylayer(key, at)
                for tensor in tensors:
                    if self.tape.numbers.find(tensor) < 0:
                        self.hold(tensor)
            if at >= 0 and at not in self._program_calls:
                self.tape.end(key, at, tensors)
                return
            # What no noted program made is held when it is read.
            made = [self._known(tensor) for tensor in tensors]
            for number, tensor in zip(made, tensors, strict=True):
                if number < 0 and not tensor.stop_gradient:
                    self.tape.numbers.note(tensor, -1)
            made = [self.tape.take(NO_KEY) if number < 0 else number for number in made]
            self.tape.results.extend((key, at, 0, len(made), *made))
        except Exception as fault:  # noqa: BLE001
            self.fail(fault)

    def begin_pylayer(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        """Note a call of a PyLayer that is about to run. Ops inside it are noted by themselves."""
        given = tuple(tensors_in((args, [*kwargs.values()]), self._type))
        at = self.begin(PYLAYER, name, given, None)
        if at >= 0:
            self._pylayers.add(at)
        return at

    def note_gradients(self, key: int | None, returned: Any) -> None:
        """Note what the ``backward`` of a PyLayer returned; ``key`` is that of its op."""
        if self.tape.is_open and key in self.backward.pylayers:
            self.backward.note_passed(self.backward.pylayers[key], returned)

    def _known(self, tensor: Any) -> int:
        """Return the number of a tensor that was not written since it got its number, or -1."""
        packed = self.tape.numbers.find(tensor)
        is_same = packed >= 0 and packed & LARGEST_VERSION == version_of(tensor)
        number = packed >> VERSION_BITS
        return number if is_same and is_valid(self.tape, number) else -1

    def note_unseen_ops(self, tensors: Any, *, have_run: bool = True) -> None:
        """Copy what ops that no hook sees may write, such as running statistics.

        Parameters
        ----------
        have_run
            Whether they are sure to run, so that what was written is held again.
        """
        try:
            for tensor in tensors_in(tensors, self._type):
                if tensor.stop_gradient and tensor.persistable:
                    self.keep_unseen(tensor, None if have_run else Special())
        except Exception as fault:  # noqa: BLE001
            self.fail(fault)

    def begin_program(self, layer: Any, given: Any, *, is_sot: bool) -> int:
        """Note a compiled program that is about to run. Return its position in the tape, or -1.

        Parameters
        ----------
        layer
            Paddle's layer that runs the program.
        given
            The inputs, the parameters, and Paddle's attributes of the program.
        is_sot
            Whether SOT compiled the program.
        """
        if not self.tape.is_open:
            return -1
        try:
            run = self._program_run(layer, is_sot=is_sot)
            if run is None:
                self.note_unseen_ops(given)
                return -1
            tensors = *given[0], *given[1]
            at = self.tape.begin(run, "run_program", tensors, None)
            special = self.special[at] = Special(without_graph=not self._paddle.is_grad_enabled())
            self._keep(special, [*run.written(tensors)])
            if run.is_random:
                special.random_states = self._random_states()
        except Exception as fault:  # noqa: BLE001
            self.fail(fault)
            return -1
        return at

    def _program_run(self, layer: Any, *, is_sot: bool) -> ProgramRun | None:
        with suppress(Exception):  # another version of Paddle: the program does not run again
            if DOOR.has("program_values"):
                program = DOOR.program_of(layer)
                run = self._programs.get(id(program))
                if run is None:
                    run = ProgramRun(self._paddle, program, is_sot=is_sot)
                    self._programs[id(program)] = run
                return run
        return None

    def begin_programs(self, given: Any, count: int) -> int:
        """Note a call of ``to_static`` whose programs have run. Return its position, or -1.

        Parameters
        ----------
        given
            The call's tensors, in the order of the op's inputs.
        count
            How many inputs the op has.
        """
        tensors = tuple(tensors_in(given, self._type))
        at = self.begin(PROGRAM, "run_program", tensors, None) if len(tensors) == count else -1
        if at >= 0:
            self._program_calls.add(at)
        return at

    def fail(self, fault: Exception) -> None:
        """Give up after a fault while a call was noted; the trace goes on without a replay."""
        self.release(Text("replay.failed", fault=described(fault)))

    def is_special(self, name: str) -> bool:
        """Tell whether an op needs :meth:`note_special` before it runs."""
        # Mixed precision has no effect on the CPU.
        return self._has_device or written_by(name) != () or is_random(name)

    def note_special(
        self, at: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None
    ) -> None:
        """Note what else an op needs, and copy the values that it will overwrite."""
        special = self.special[at] = Special(without_graph=not self._paddle.is_grad_enabled())
        if kwargs and "out" in kwargs:
            self._keep(special, kwargs["out"])
        positions = written_by(name)
        for position in range(len(args)) if positions is None else positions:
            if position < len(args):
                self._keep(special, args[position])
        if is_random(name):
            special.random_states = self._random_states()
        if self._has_device:
            special.amp = self._amp_state()

    def note_returned(self, at: int, number: int, storage: int) -> None:
        """Note that a call returned one of its arguments, and may have written into it."""
        special = self.special.setdefault(at, Special())
        call = recorded_call(self.tape, at, self.special)
        if storage in special.writes or call.function is PYLAYER:
            return
        special.writes.append(storage)
        self.held.lose(number, Text("replay.unknown_write", op=call.name))

    def hold(self, tensor: Any) -> int:
        """Hold a tensor that no noted op made, and return its new number."""
        number = self.backward.find(tensor)
        if number >= 0:
            self.tape.numbers.note(tensor, number << VERSION_BITS | version_of(tensor))
            return number
        # Paddle may write into a gradient that it passes to the user's code.
        is_passed = self.backward.is_running and tensor.stop_gradient and not tensor.persistable
        storage, held = self.held.held(tensor, copies=is_passed)
        number = self.tape.take(storage)
        self.held.by_number[number] = held
        if held.size_bytes:
            self._note_found_write(self.tape.numbers.find(tensor) >> VERSION_BITS, number, storage)
            self.tape.numbers.note(tensor, number << VERSION_BITS | version_of(tensor))
        self.backward.note_held(tensor, held)
        return number

    def hold_written(self) -> None:
        """Hold the tensors that were written without an op: a backward call may read them."""
        living = self.tape.numbers.living() if self._has_written else ()
        self._has_written = False
        for tensor, packed in living:
            if packed >= 0 and not is_valid(self.tape, packed >> VERSION_BITS):
                self.hold(tensor)

    def _note_found_write(self, before: int, number: int, storage: int) -> None:
        """Note that a tensor got a new number, because its memory was written without an op."""
        at = self.begin(WRITE, "write", (), None) if before >= 0 else -1
        if at >= 0:
            self.special[at] = Special(writes=[storage], replaces=before)
            self.tape.results.extend((-1, at, 0, 1, number))

    def _around_alias(self, place: str | tuple[Any, str]) -> AttributePatch:
        """Return a patch that notes calls of a function such as ``detach``, which runs no op."""
        made: Any = DOOR.now(place) if isinstance(place, str) else getattr(*place)
        function = inspect.unwrap(made)

        def note(recorder: Recorder, call: Call) -> None:
            if recorder is self._recorder and call.result is not call.args[0]:
                at = self.begin(function, function.__name__, call.args, None)
                if at >= 0:
                    self.end(-1, at, call.result)

        return noted(place, note)

    # -- writes -------------------------------------------------------------------------------

    def _keep(self, special: Special, written: Any) -> None:
        """Copy the values that an op overwrites in an argument."""
        for tensor in tensors_in(written, self._type):
            own = self.held.by_number.get(self.tape.numbers.find(tensor) >> VERSION_BITS)
            self.keep_unseen(tensor, special, own)

    def keep_unseen(
        self, tensor: Any, special: Special | None = None, own: Held | None = None
    ) -> None:
        """Copy values that are about to be overwritten, without an op or by an op of the trace."""
        if not self.tape.is_open or not DOOR.is_initialized(tensor) or not DOOR.is_dense(tensor):
            return
        storage = tensor.data_ptr() - DOOR.storage_offset(tensor)
        are_others = self.held.keep_before_write(tensor, storage, own)
        if special is not None:
            special.writes.append(storage)
            self.backward.note_write(tensor)
        # An op's write also changes other tensors. A replay on copies would not repeat that.
        if storage > 0 and (special is None or are_others):
            self.tape.stale.note(storage, 0, self.tape.taken)
            self._has_written = True

    def _before_write(self, recorder: Recorder, call: Call) -> None:
        if recorder is self._recorder:
            for tensor in tensors_in(call.args, self._type):
                self.keep_unseen(tensor)

    # -- the program's state ------------------------------------------------------------------

    def _random_states(self) -> list[Any]:
        states = [self._generator.get_state()]
        return [*states, self._paddle.get_rng_state()] if self._has_device else states

    def _amp_state(self) -> Any:
        """Return the state of automatic mixed precision; ``None`` if it is off."""
        tracer = DOOR.current_tracer()
        level = int(DOOR.amp_level(tracer))
        if not level:
            return None
        allowed, blocked = DOOR.amp_ops(tracer)
        return level, DOOR.amp_dtype(tracer), frozenset(allowed), frozenset(blocked)
