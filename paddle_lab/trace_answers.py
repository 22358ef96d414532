"""The answers of a trace: its ops, tensors, gradients, memory, findings and graphs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from paddle_lab.garbage import collection_paused
from paddle_lab.options import hints_options
from paddle_lab.trace.record import Record
from paddle_lab.words import say
from paddle_lab.words.suggestion import suggestion

if TYPE_CHECKING:
    import networkx

    from paddle_lab.analysis.findings.finding import Finding, FindingList
    from paddle_lab.analysis.gradients.gradients import GradientTable
    from paddle_lab.analysis.memory.allocations import AllocationTable
    from paddle_lab.analysis.memory.attribution import Attribution
    from paddle_lab.analysis.memory.memory import Memory
    from paddle_lab.analysis.ranking.ranked_table import By, RankedTable
    from paddle_lab.analysis.tables.kernels import KernelTable
    from paddle_lab.analysis.tables.log import LogTable
    from paddle_lab.analysis.tables.ops import Op, OpTable
    from paddle_lab.analysis.tables.summaries import BackwardCalls, Regions
    from paddle_lab.analysis.tables.tensors import TensorTable
    from paddle_lab.analysis.tables.values import ValueTable
    from paddle_lab.capture.replay.values import Replay
    from paddle_lab.error_help.lookup import ErrorHelp
    from paddle_lab.replayed_values import ReplayedArray

GraphKind = Literal["forward", "backward"]


class TraceAnswers:
    """The answers of :class:`paddle_lab.Trace`. Most of them are computed on first use."""

    def __init__(self, record: Record | None = None) -> None:
        self._record = record
        self._findings: dict[str, list[Finding]] = {}
        self._shown: tuple[str, Record] | None = None
        self._drawn: tuple[Record, Record] | None = None
        self._is_opened = record is not None
        self._replay: Replay | None = None

    def complete(self, record: Record, replay: Replay | None = None) -> None:
        """Set the record of a trace that has ended, and the object that computes values again."""
        self._record = record
        self._replay = replay or self._replay

    @property
    def is_recording(self) -> bool:
        """Whether the traced code is still running."""
        return self._record is None

    @property
    def record(self) -> Record:
        """The tables that :mod:`paddle_lab.trace.schema` describes.

        Raises
        ------
        RuntimeError
            While the trace is being recorded. Everything that reads a trace raises this.
        """
        if self._record is None:
            raise RuntimeError(say("errors.still_recording"))
        return self._record

    @cached_property
    def view_record(self) -> Record:
        """The record with the answer tables that views need."""
        from paddle_lab.analysis.answers import with_answers

        record = self.record
        with collection_paused():
            return with_answers(record)

    @property
    def _shown_record(self) -> Record:
        """The record with the findings and the answer tables of the views.

        Texts about a trace use this record. Pictures also show the ops of compiled programs.
        """
        from paddle_lab.analysis.findings.find import with_findings
        from paddle_lab.words import language

        if self._shown is None or self._shown[0] != language():
            self._shown = language(), with_findings(self.view_record, self.findings)
        return self._shown[1]

    @property
    def _drawn_record(self) -> Record:
        """The record for pictures: :attr:`_shown_record` and the ops of compiled programs."""
        from paddle_lab.analysis.answers import with_answers
        from paddle_lab.analysis.findings.find import with_findings
        from paddle_lab.programs.splice import with_program_ops

        shown = self._shown_record
        if not len(self.record.program_texts):
            return shown
        if self._drawn is None or self._drawn[0] is not shown:
            with collection_paused():
                record = with_answers(with_program_ops(self.record))
            self._drawn = shown, with_findings(record, self.findings)
        return self._drawn[1]

    @property
    def findings(self) -> FindingList:
        """What is wrong, and the line that caused it. The worst comes first, causes before effects.

        The texts are in the language of :func:`paddle_lab.language`.
        """
        from paddle_lab.analysis.findings.find import find
        from paddle_lab.analysis.findings.finding import FindingList
        from paddle_lab.words import language

        speaks = language()
        if speaks not in self._findings:
            record = self.view_record
            with collection_paused():
                found = find(record)
            # The record of a page also has the ops of compiled programs, which checks do not cover.
            ends = _recorded(record, "ops"), _recorded(record, "grad_nodes")
            self._findings[speaks] = [
                each for each in found if each.op < ends[0] and each.grad_node < ends[1]
            ]
        return FindingList(self._findings[speaks])

    @property
    def error_help(self) -> list[ErrorHelp]:
        """Advice on the error that ended the trace, if it is a known error of Paddle.

        The text is in the language of :func:`paddle_lab.language`. The line is in :attr:`findings`.
        """
        from paddle_lab.error_help.lookup import error_help

        return error_help(self.record.origin.exception)

    @cached_property
    def ops(self) -> OpTable:
        """The ops in the order in which they were called, one row for each."""
        from paddle_lab.analysis.tables.ops import OpTable

        return OpTable(self.view_record)

    @property
    def tensors(self) -> TensorTable:
        """The values of tensors. An op that modifies a tensor in place makes a new value."""
        from paddle_lab.analysis.tables.tensors import TensorTable

        return TensorTable(self.view_record)

    @property
    def kernels(self) -> KernelTable:
        """The times of the kernels of each op and grad node; empty without ``profile=True``."""
        from paddle_lab.analysis.tables.kernels import KernelTable

        return KernelTable(self.view_record)

    @cached_property
    def log(self) -> LogTable:
        """Paddle's own log, each entry with its op or grad node; empty without ``log=``.

        ``trace.log.search("GradNode")`` finds entries by their text, op, grad node or source file;
        ``trace.log.of_op(key)`` has the entries of one op and of its grad nodes.
        """
        from paddle_lab.analysis.tables.log import LogTable

        return LogTable(self.view_record)

    @cached_property
    def allocations(self) -> AllocationTable:
        """The blocks of Paddle's allocator, by start; empty if memory was not recorded."""
        from paddle_lab.analysis.memory.allocations import AllocationTable

        return AllocationTable(self._attribution)

    @cached_property
    def memory(self) -> Memory:
        """The use of memory: the peak, the living blocks at any moment, leaks, holders.

        Raises
        ------
        ValueError
            If no memory was recorded. :func:`paddle_lab.memory` and ``%%paddle_mem`` record it.
        """
        from paddle_lab.analysis.memory.memory import Memory

        return Memory(self._attribution)

    @cached_property
    def _attribution(self) -> Attribution:
        from paddle_lab.analysis.memory.attribution import Attribution

        return Attribution(self.view_record)

    @cached_property
    def gradients(self) -> GradientTable:
        """Statistics of each gradient of the backward passes; empty without ``grads=True``.

        There is a row for each edge of a backward graph along which a gradient flowed, and a row
        for the gradient with which each backward call began. ``trace.gradients.curve()`` returns
        norms layer by layer. Two kinds of gradient are missing: sparse gradients, and gradients
        that are added to others by the node of an op with a list of tensors (``concat``,
        ``stack``), of a PyLayer, or of a program of ``to_static``.
        """
        from paddle_lab.analysis.gradients.gradients import GradientTable

        return GradientTable(self.view_record)

    @cached_property
    def values(self) -> ValueTable:
        """Statistics of each op's outputs; empty without ``values=True``.

        There is a row for each tensor value: the output of an op, or data and parameters when the
        trace first saw them. The first row of ``trace.values.worst`` is where NaN and Inf begin.
        """
        from paddle_lab.analysis.tables.values import ValueTable

        return ValueTable(self.view_record)

    @property
    def backward_calls(self) -> BackwardCalls:
        """The calls of ``backward`` and ``paddle.grad``, in order. Each has a backward graph."""
        from paddle_lab.analysis.tables.summaries import backward_calls

        return backward_calls(self.view_record)

    @property
    def regions(self) -> Regions:
        """The executions of :func:`paddle_lab.region` blocks, in order."""
        from paddle_lab.analysis.tables.summaries import regions

        return regions(self.view_record)

    def value(self, op: Op | int, output: int = 0, *, run: int = 0) -> ReplayedArray:
        """Return the value of a tensor that an op returned, by computing it again.

        Only the newest trace with ``replay=True`` can compute values. The ops that lead to the
        value run again, with their recorded arguments and states of random generators. No code of
        the user runs again, and the program's tensors, gradients and generators stay as they are.

        Parameters
        ----------
        op
            A row of :attr:`ops`, or the key of a row. An op inside a compiled program has a key in
            pictures.
        output
            Which of the tensors that the op returned, from 0.
        run
            For an op inside a compiled program: which run of the program, from 0.

        Returns
        -------
        ReplayedArray
            A NumPy array that equals the value of the run bit for bit; bfloat16 is converted to
            float32. The attribute ``check`` says with which recorded data the value was compared.

        Raises
        ------
        ReplayError
            If the value cannot be computed. The message is the reason.
        IndexError
            If there is no such op, output or run.
        """
        from paddle_lab.replayed_values import ReplayError, replayed_value

        if self._is_opened:
            raise ReplayError(say("replay.saved"))
        key = op if isinstance(op, int) else op.key
        return replayed_value(self.record, self._replay, key, output, run)

    def gradient(self, node: int, output: int = 0, *, call: int | None = None) -> ReplayedArray:
        """Return the gradient that a grad node gets in a backward call, by computing it again.

        This is the gradient of an output of the op that made the node. For the node of a leaf, it
        is the leaf's gradient from this call only. As in :meth:`value`, ops run again, but no code
        of the user; then the backward call runs.

        Parameters
        ----------
        node
            The key of the grad node, as in ``graph("backward")``.
        output
            Which of the tensors that the node's op returned, from 0.
        call
            The key of the backward call; by default the first call that ran the node.

        Returns
        -------
        ReplayedArray
            An array like that of :meth:`value`.

        Raises
        ------
        ReplayError
            If the gradient cannot be computed. The message is the reason. Gradients that depend on
            a graph from before the trace cannot be computed.
        IndexError
            If there is no such node or output.
        """
        from paddle_lab.replayed_values import ReplayError, replayed_gradient

        if self._is_opened:
            raise ReplayError(say("replay.saved"))
        return replayed_gradient(self.view_record, self._replay, node, output, call)

    @hints_options
    def table(self, by: By = "op") -> RankedTable:
        """Return the costs of ops, layers, lines, loop iterations or grad nodes, for ranking.

        Parameters
        ----------
        by
            What each row stands for. ``"op"``: all ops of one name, like PyTorch's
            ``key_averages()``; calls of ``backward`` count as ops. (``trace.ops`` has single ops.)
            ``"layer"``: a layer, over all of its calls. ``"line"``: a line of the user's code.
            ``"turn"``: an iteration of a loop. ``"node"``: all grad nodes of one name, over all of
            their runs. The last row, without a name, is for ops outside of all layers, lines or
            loops. Ops and lines are sorted by ``self_ns``, nodes by ``flops``, layers and
            iterations by their beginning.

        Returns
        -------
        RankedTable
            The table has these columns after the names. ``calls``: the number of calls of the op,
            layer or grad node; for a line or an iteration, how many ops it called itself.
            ``self_ns``: the host time of its own ops, without ops inside these. ``total_ns``: the
            host time of all ops inside it. All other columns also include what is inside:
            ``kernel_ns`` (the time of kernels, with ``profile=True``), ``flops`` (a multiply-add is
            2), ``macs`` (a multiply-add is 1), ``output_bytes``, ``saved_bytes`` (kept for
            backward), ``unknown_flops`` (how many ops and grad nodes have no known FLOPs; ``flops``
            is the sum of the others), ``parameters`` and ``parameter_bytes`` (that ops inside read,
            each counted once), ``dtype`` (of the outputs). Unknown values are null. ``backward``
            runs outside of layers, so a layer's figures are those of its forward.

            ``self_ns`` of the cell's thread, ``table.host.outside_ns`` (outside Paddle's ops) and
            ``table.host.own_ns`` (the trace itself) add up to ``table.host.wall_ns``.

            It has ``to_pandas()``, ``to_csv(path)`` and Arrow's PyCapsule interface.

        Raises
        ------
        ValueError
            If there is no such kind of row.
        """
        from paddle_lab.analysis.ranking.ranked_table import KINDS, ranked_table

        if by not in KINDS:
            advice = suggestion(str(by), KINDS, key="errors.one_of", shown=repr)
            raise ValueError(say("errors.cannot_be", option="by", value=repr(by), advice=advice))
        return ranked_table(self.view_record, by)

    @hints_options
    def graph(
        self, kind: GraphKind = "forward", *, call: int | None = None, region: str | None = None
    ) -> networkx.MultiDiGraph:
        """Return a graph for further analysis.

        Parameters
        ----------
        kind
            ``"forward"``: nodes are op keys, edges are tensors. ``"backward"``: nodes are grad
            nodes, edges point in the direction in which gradients flow.
        call
            For ``"backward"``: the key of a backward call, to get only its graph. By default all
            graphs are returned.
        region
            For ``"backward"``: the name of a region. Each node then has a ``region_role``:
            ``"inside"``, ``"neighbour"``, ``"leaf"`` or ``None``.

        Raises
        ------
        ValueError
            If there is no such kind of graph, backward call or region.
        """
        from paddle_lab.analysis.graph.networkx_graph import backward_graph, forward_graph

        if kind == "forward":
            if call is not None or region is not None:
                raise ValueError(say("errors.backward_options"))
            return forward_graph(self.view_record)
        if kind == "backward":
            return backward_graph(self.view_record, call=call, region=region)
        raise ValueError(say("errors.no_graph", kind=repr(kind)))


def _recorded(record: Record, name: Literal["ops", "grad_nodes"]) -> int:
    """Return how many ops or grad nodes a view's record has, without those of programs."""
    inside = {"ops": "program_ops", "grad_nodes": "program_grad_nodes"}[name]
    return len(record.tables[name]) - len(record.tables[inside])
