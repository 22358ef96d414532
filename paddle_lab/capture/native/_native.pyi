"""The native part, as Python sees it.

Most names have a twin in Python, which documents parameters and results. Its file is given here.
"""

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, final

from paddle_lab.capture.backward_graph.grad_nodes import GradNodePool, Reached
from paddle_lab.capture.evidence.values.scan import Scanned
from paddle_lab.capture.hooks.op_wrapper import OpWrapping
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.replay.call_tape import Listener
from paddle_lab.capture.rows.lineage import Upstream
from paddle_lab.capture.turns.marks import CallMark

@final
class Tape:
    """A list of 64-bit integers that grows at its end: ``capture/rows/tape.py``."""

    start: int
    def __len__(self) -> int: ...
    def extend(self, cells: list[int] | tuple[int, ...], /) -> None:
        """Append integers."""

    def to_list(self, start: int = 0, end: int | None = None, /) -> list[int]:
        """Return the cells from a start position up to an end position, which is excluded."""

    def to_bytes(self, start: int = 0, end: int | None = None, /) -> bytes:
        """Return the same cells, 8 bytes each."""

    def row_starts(self, width: int, start: int = 0, /) -> bytes:
        """Return the start positions of rows of different lengths, 8 bytes each."""

    def replace(self, end: int, cells: bytes, /) -> None:
        """Replace the cells before position ``end`` by as many cells or fewer."""

@final
class ObjectTable:
    """Maps objects to numbers without keeping them alive: ``capture/rows/object_table.py``."""

    def find(self, value: Any, /) -> int:
        """Return the number noted for an object, or -1."""

    def note(self, value: Any, number: int, /) -> None:
        """Note an object's number."""

    def living(self) -> list[tuple[Any, int]]:
        """Return the objects that are still alive, and their numbers."""

    def living_numbers(self) -> bytes:
        """Return the numbers of the objects that are still alive, 8 bytes each."""

@final
class AddressTable:
    """Maps an address and an op to a number: ``capture/rows/address_table.py``."""

    def __len__(self) -> int: ...
    def find(self, address: int, op: int, /) -> int:
        """Return the number noted, or -1."""

    def note(self, address: int, op: int, number: int, /) -> None:
        """Note a number."""

    def drop(self, address: int, op: int, /) -> None:
        """Forget the number, if one was noted."""

@final
class CallTape:
    """The noted calls of one trace: ``capture/replay/call_tape.py``."""

    is_open: bool
    numbers: ObjectTable
    stale: AddressTable
    objects: list[Any]
    calls: Tape
    results: Tape
    def __init__(
        self, tensor_type: type, array_type: type, mark: object, listener: Listener, /
    ) -> None: ...
    @property
    def taken(self) -> int:
        """How many numbers were taken."""

    def begin(
        self, function: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None, /
    ) -> int:
        """Note a call that is about to run, and return its position."""

    def end(self, key: int, at: int, tensors: list[Any], /) -> None:
        """Note what a call returned."""

    def take(self, storage: int, /) -> int:
        """Return a new number for a tensor with this storage."""

    def storage_of(self, number: int, /) -> int:
        """Return the storage of the tensor with a number."""

@final
class Counter:
    """Numbers from 0 on: ``capture/rows/counter.py``."""

    next: int
    alarm: int
    def __call__(self) -> int: ...

@final
class StackPool:
    """Distinct stacks, by key: ``capture/stacks/stack_pool.py``."""

    codes: dict[int, CodeType]
    def take(self, frame: FrameType | None, anchor: FrameType | None, anchor_stack: int, /) -> int:
        """Return the key of the stack from a frame out to an anchor."""

    def put(self, code: CodeType, offset: int, caller_stack: int, /) -> int:
        """Return the key of a stack of a code object without a frame, called from another stack."""

    def taken(self) -> tuple[bytes, bytes]:
        """Return all stacks by key, and where each begins."""

class ThreadCells:
    """What one thread is doing: ``capture/recorder/thread_state.py``."""

    number: int
    scope: int
    layer: int
    phase: int
    anchor_stack: int
    own_ns: int
    anchor: FrameType | None
    closed_regions: dict[int, int]
    pylayers: list[int]
    def __init__(self, number: int, /) -> None: ...

@final
class Sinks:
    """The recorders that listen: ``capture/recorder/recorder.py``."""

    active: tuple[Recorder, ...]

@final
class Lineage:
    """Finds the op that made a tensor, and that op's inputs: ``capture/rows/lineage.py``."""

    def __init__(self, ops: Tape, tensors: Tape, /) -> None: ...
    def inputs(self, op: int, /) -> list[int]:
        """Return argument position and tensor of each of an op's inputs, in one flat list."""

    def name_key(self, op: int, /) -> int:
        """Return the key of an op's name, or -1."""

    def grad_address(self, tensor: int, /) -> int:
        """Return the address of a row's grad node, or 0."""

    def row_at(self, address: int, /) -> int:
        """Return the latest row with the grad node at an address, or -1."""

    def maker(self, tensor: int, /) -> tuple[int, int]:
        """Return the op that made a row's grad node, and the row that this op made."""

    def upstream(self, op: int, /) -> Upstream:
        """Return the grad nodes that receive the gradients of an op's inputs."""

@final
class LastScope:
    """The last answer of ``TurnTracker.scope_at`` in ``capture/turns/turns.py``."""

    def __init__(
        self,
        codes: AddressTable,
        scopes: Tape,
        next_scope: Counter,
        turns: Tape,
        values: list[Any],
        mark_type: type[CallMark],
        serial: int,
        /,
    ) -> None: ...
    def find(
        self,
        tracker: Any,
        frame: FrameType | None,
        anchor: FrameType | None,
        inside: int,
        thread: int,
        /,
    ) -> int | None:
        """Return the scope at a frame, or None if the scope may have changed."""

    def keep(
        self,
        calls: list[tuple[Any, ...]],
        /,
    ) -> None:
        """Keep an answer.

        The calls come outermost first: frame, mark, and what ``TurnTracker._to_keep`` returns.
        """

    def forget(self, mark: CallMark | None = ..., /) -> None:
        """Forget the running calls, and a suspended call by its mark; without a mark all calls.

        Their iterations get the place of their last op.
        """

@final
class OpFunction:
    """Wraps an op's function: see ``OpWrapping.wrap`` in ``capture/hooks/op_wrapper.py``.

    ``for_all`` is the wrapper in Python, for several recorders. ``rare`` records rare results.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        name_key: int,
        for_all: Callable[..., Any],
        rare: OpWrapping,
        is_update: bool,
        /,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@final
class OpMethod:
    """Wraps an operator of a class: an :class:`OpFunction` that binds to instances."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        name_key: int,
        for_all: Callable[..., Any],
        rare: OpWrapping,
        is_update: bool,
        /,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: type | None = None, /) -> Any: ...

@final
class LayerCall:
    """Wraps ``Layer.__call__``: see ``capture/hooks/layer_hooks.py``."""

    def __init__(self, function: Callable[..., Any], for_all: Callable[..., Any], /) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: type | None = None, /) -> Any: ...

def listen_for(recorder: Recorder | None, sinks: Sinks, /) -> None:
    """Let one recorder, or None, own the fast path while no other one listens."""

def walk_grad_nodes(
    pool: GradNodePool, roots: list[tuple[Any, int]], backward_call: int, *, returns_reached: bool
) -> Reached:
    """Record the grad nodes reachable from roots: ``capture/backward_graph/grad_walk.py``."""

def scan(
    address: int, elements: int, kind: int, with_histogram: bool, decimals: int | None = None, /
) -> Scanned:
    """Scan every element of an array: ``capture/evidence/values/scan.py``."""

def bindings(
    namespaces: list[dict[str, Any]], objects: list[Any], /
) -> list[tuple[dict[str, Any], str, Any]]:
    """Return where namespaces bind some objects: ``capture/hooks/search.py``."""

def note_storage(rows: list[Any], tensor: Any, key: int, /) -> None:
    """Add where a tensor is stored: ``capture/memory/storages.py``."""

def frame_variable(frame: FrameType, name: str, default: Any, /) -> Any:
    """Return a variable of a frame: ``capture/turns/turns.py``."""

def flight_open(buffer: Any, start: int, describe: Callable[[int, int, FrameType], None], /) -> int:
    """Begin to record ops in a buffer, from byte ``start``: ``capture/flight/flight_record.py``."""

def flight_forget() -> int:
    """Describe each key again at its next use. Return the number of the newest row."""

def flight_close() -> None:
    """Stop recording, and release the buffer."""

def flight_enter(name: int, stack: int, state: ThreadCells, frame: FrameType, /) -> int:
    """Record that a named activity begins, and return its number; 0 if nothing is recorded."""

def flight_leave(number: int, /) -> None:
    """Record that the activity with a number has ended."""

def thread_frame(ident: int, /) -> FrameType | None:
    """Return the frame that a thread runs, or None: ``capture/running_layer.py``."""

def split_log(data: bytes, /) -> list[str]:
    """Return the header and the text of each entry of a log: ``trace/log_text.py``."""
