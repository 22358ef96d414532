"""The public face of a trace: :class:`Trace` and :func:`load`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from paddle_lab.garbage import collection_paused
from paddle_lab.options import hints_options
from paddle_lab.trace.record import Record

if TYPE_CHECKING:
    import networkx

    from paddle_lab.analysis.findings.finding import Finding
    from paddle_lab.analysis.findings.finding_list import FindingList
    from paddle_lab.analysis.gradients.gradient_table import GradientTable
    from paddle_lab.analysis.memory.allocation_table import AllocationTable
    from paddle_lab.analysis.memory.attribution import Attribution
    from paddle_lab.analysis.memory.memory import Memory
    from paddle_lab.analysis.op_table import OpTable
    from paddle_lab.analysis.summaries import BackwardCall, Region
    from paddle_lab.analysis.tensors import TensorTable
    from paddle_lab.error_help.known_error import ErrorHelp
    from paddle_lab.views.widgets.graph_widget import GraphWidget

PathLike = str | os.PathLike[str]
GraphKind = Literal["forward", "backward"]
View = Literal["ladder", "forward", "backward"]
WidgetView = Literal["ladder", "forward", "backward", "memory"]
Theme = Literal["light", "dark"]


class Trace:
    """What a cell computed: every op, its tensors, stack and layer, and its backward graphs.

    :func:`paddle_lab.trace`, ``%%paddle_trace`` and :func:`paddle_lab.load` make traces. At the
    end of a notebook cell a trace shows itself as an interactive graph.

    Parameters
    ----------
    record
        The trace's tables; ``None`` while it is being recorded.
    """

    def __init__(self, record: Record | None = None) -> None:
        self._record = record
        self._findings: dict[str, list[Finding]] = {}
        self._told: tuple[str, Record] | None = None

    def complete(self, record: Record) -> None:
        """Take the record of a trace that has ended; the capture calls this once."""
        self._record = record

    @property
    def is_recording(self) -> bool:
        """Whether the traced code is still running."""
        return self._record is None

    @property
    def record(self) -> Record:
        """The tables, as :mod:`paddle_lab.trace.schema` describes them.

        Raises
        ------
        RuntimeError
            While the trace is being recorded, as from everything else that reads a trace.
        """
        if self._record is None:
            raise RuntimeError("this trace is still being recorded; read it after its block ends")
        return self._record

    @cached_property
    def view_record(self) -> Record:
        """The record with the answer tables that the views need beside its own."""
        from paddle_lab.analysis.answers import with_answers

        record = self.record
        with collection_paused():
            return with_answers(record)

    @property
    def _told_record(self) -> Record:
        """The record with what its views need and what the checks found."""
        from paddle_lab.analysis.findings.language import language
        from paddle_lab.analysis.findings.tables import with_findings

        if self._told is None or self._told[0] != language():
            self._told = language(), with_findings(self.view_record, self.findings)
        return self._told[1]

    @property
    def findings(self) -> FindingList:
        """What is wrong and which line did it: worst first, cause before consequence.

        In the language that :func:`paddle_lab.language` says.
        """
        from paddle_lab.analysis.findings.find import find
        from paddle_lab.analysis.findings.finding_list import FindingList
        from paddle_lab.analysis.findings.language import language

        speaks = language()
        if speaks not in self._findings:
            record = self.view_record
            with collection_paused():
                self._findings[speaks] = find(record)
        return FindingList(self._findings[speaks])

    @property
    def error_help(self) -> list[ErrorHelp]:
        """What to do about the error that ended the trace, where it is one of Paddle's known ones.

        In the language that :func:`paddle_lab.language` says. :attr:`findings` name the line.
        """
        from paddle_lab.error_help.lookup import error_help

        return error_help(self.record.origin.exception)

    @cached_property
    def ops(self) -> OpTable:
        """The ops in the order in which they were called; one row an op."""
        from paddle_lab.analysis.op_table import OpTable

        return OpTable(self.view_record)

    @property
    def tensors(self) -> TensorTable:
        """The tensor values; an op that modifies a tensor in place makes a new one."""
        from paddle_lab.analysis.tensors import TensorTable

        return TensorTable(self.view_record)

    @cached_property
    def allocations(self) -> AllocationTable:
        """The blocks of Paddle's allocator, by start; none unless memory was recorded."""
        from paddle_lab.analysis.memory.allocation_table import AllocationTable

        return AllocationTable(self._attribution)

    @cached_property
    def memory(self) -> Memory:
        """Where the memory went: peak, what was alive when and whose it was, leaks, holders.

        Raises
        ------
        ValueError
            If no memory was recorded; :func:`paddle_lab.memory` and ``%%paddle_mem`` do.
        """
        from paddle_lab.analysis.memory.memory import Memory

        return Memory(self._attribution)

    @cached_property
    def _attribution(self) -> Attribution:
        from paddle_lab.analysis.memory.attribution import Attribution

        return Attribution(self.view_record)

    @cached_property
    def gradients(self) -> GradientTable:
        """What was in each gradient of the backward passes; none unless ``grads=True``.

        One row for each edge of a backward graph that a gradient passed, and for what each
        backward call began with. ``trace.gradients.curve()`` tells norms layer by layer. Missing
        are gradients that a node of several tensors (``concat``, ``stack``), a PyLayer or a
        program of ``to_static`` hands on where others arrive as well, and those in sparse
        coordinates.
        """
        from paddle_lab.analysis.gradients.gradient_table import GradientTable

        return GradientTable(self.view_record)

    @property
    def backward_calls(self) -> Sequence[BackwardCall]:
        """The calls of ``backward`` and ``paddle.grad``, in order; one backward graph each."""
        from paddle_lab.analysis.summaries import backward_calls

        return backward_calls(self.view_record)

    @property
    def regions(self) -> Sequence[Region]:
        """The parts named by :func:`paddle_lab.region`, in order."""
        from paddle_lab.analysis.summaries import regions

        return regions(self.view_record)

    @hints_options
    def graph(
        self, kind: GraphKind = "forward", *, call: int | None = None, region: str | None = None
    ) -> networkx.MultiDiGraph:
        """Return a graph for further analysis.

        Parameters
        ----------
        kind
            ``"forward"``: nodes are op keys, edges are tensors. ``"backward"``: nodes are grad
            nodes, edges point the way the gradient flows.
        call
            For ``"backward"``: key of the backward call whose graph is wanted; all by default.
        region
            For ``"backward"``: name of a region; each node then has a ``region_role``:
            ``"inside"``, ``"neighbour"``, ``"leaf"`` or ``None``.

        Raises
        ------
        ValueError
            If there is no such kind of graph, backward call or region.
        """
        from paddle_lab.analysis.networkx_graph import backward_graph, forward_graph

        if kind == "forward":
            if call is not None or region is not None:
                raise ValueError('call and region are options of graph("backward")')
            return forward_graph(self.view_record)
        if kind == "backward":
            return backward_graph(self.view_record, call=call, region=region)
        raise ValueError(f'there is no {kind!r} graph; ask for "forward" or "backward"')

    def save(self, path: PathLike) -> Path:
        """Write the trace to a file that :func:`paddle_lab.load` opens; return its path.

        The file is written beside its final place and then moved there, so that an interrupted
        save leaves an older file as it was.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from paddle_lab.trace.file import save

        return save(self.record, path)

    def to_html(self, path: PathLike) -> Path:
        """Write one HTML file with the interactive graph; it needs no network and no kernel.

        Raises
        ------
        OSError
            If the file cannot be written, or this installation lacks its built front end.
        """
        from paddle_lab.trace.file import write_atomically
        from paddle_lab.views.html_page import html_page

        page = html_page(self._told_record, payload=self.payload())
        return write_atomically(path, page.encode("utf-8"))

    @hints_options
    def to_svg(
        self,
        path: PathLike,
        *,
        view: View = "ladder",
        theme: Theme = "light",
        depth: int | None = None,
    ) -> Path:
        """Write a static picture of the graph.

        Parameters
        ----------
        path
            Where to write.
        view
            ``"ladder"`` pairs the forward graph with the backward graph.
        theme
            Colours for a light or a dark page.
        depth
            How many levels of groups to open; by default as many as fit about 60 rows.

        Raises
        ------
        ValueError
            If there is no such view or theme.
        OSError
            If the file cannot be written.
        """
        from paddle_lab.trace.file import write_atomically
        from paddle_lab.views.svg import svg_picture

        picture = svg_picture(self._told_record, view=view, theme=theme, depth=depth)
        return write_atomically(path, picture.encode("utf-8"))

    def to_chrome_trace(self, path: PathLike) -> Path:
        """Write ops, layers and memory as JSON for ui.perfetto.dev or chrome://tracing.

        Where the name ends in ``.gz`` the file is compressed, which Perfetto opens as it is.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from paddle_lab.interchange.chrome_trace import chrome_trace
        from paddle_lab.trace.file import write_atomically

        data = chrome_trace(self._attribution).encode("utf-8")
        if str(path).endswith(".gz"):
            import gzip

            data = gzip.compress(data, compresslevel=6)
        return write_atomically(path, data)

    def to_memory_snapshot(self, path: PathLike) -> Path:
        """Write the memory as a snapshot for PyTorch's memory viewer, pytorch.org/memory_viz.

        Raises
        ------
        ValueError
            If no memory was recorded.
        OSError
            If the file cannot be written.
        """
        from paddle_lab.interchange.memory_snapshot import memory_snapshot
        from paddle_lab.trace.file import write_atomically

        return write_atomically(path, memory_snapshot(self._attribution))

    @hints_options
    def to_memory_csv(
        self, path: PathLike, *, time_ns: int | None = None, place: str | None = None
    ) -> Path:
        """Write what was alive in a moment as comma-separated values, largest first.

        Parameters
        ----------
        path
            Where to write.
        time_ns
            The moment, in ns since the trace began; the peak by default.
        place
            ``"cpu"``, ``"gpu:0"``; by default the one that ``trace.memory`` is about.

        Raises
        ------
        ValueError
            If no memory was recorded, or none of this place.
        OSError
            If the file cannot be written.
        """
        from paddle_lab.interchange.memory_csv import memory_csv
        from paddle_lab.trace.file import write_atomically

        memory = self.memory if place is None else self.memory.on(place)
        return write_atomically(path, memory_csv(memory, time_ns=time_ns).encode("utf-8"))

    def summary(self) -> str:
        """Return the trace in a page of text: counts, layers, slowest ops, backward calls."""
        from paddle_lab.views.text import summary_text

        return summary_text(self._told_record)

    def payload(self) -> bytes:
        """Return the bytes that the front end draws from: the record and the answer tables."""
        return self._payload

    @cached_property
    def _payload(self) -> bytes:
        from paddle_lab.trace.pack import pack

        return pack(self._told_record)

    @cached_property
    def _stored_payload(self) -> bytes:
        from paddle_lab.views.reduction.ladder import stored_payload

        return stored_payload(self._told_record, self._payload)

    def fallback_html(self) -> str:
        """Return the HTML that stands for the graph where no widget can be drawn."""
        from paddle_lab.views.fallback import fallback_html

        return fallback_html(self._told_record)

    @hints_options
    def widget(self, *, view: WidgetView = "forward", height: int = 560) -> GraphWidget:
        """Return the trace as a notebook widget.

        Parameters
        ----------
        view
            The graph to show first.
        height
            Height, 240 to 4000 pixels.

        Raises
        ------
        ValueError
            If there is no such view, or the height is out of bounds.
        """
        from paddle_lab.views.widgets.graph_widget import GraphWidget

        return GraphWidget(
            payload=self.payload(),
            stored=lambda: self._stored_payload,
            text=repr(self),
            fallback_html=self.fallback_html,
            view=view,
            height=height,
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        if self._record is None:
            return {"text/plain": repr(self)}
        return self.widget()._repr_mimebundle_(**kwargs)

    def __repr__(self) -> str:
        if self._record is None:
            return "<Trace: still recording>"
        from paddle_lab.views.text import one_line

        return f"<Trace: {one_line(self._told_record)}>"


def load(path: PathLike) -> Trace:
    """Open a file that :meth:`Trace.save` wrote; Paddle need not be installed.

    Raises
    ------
    TraceFileError
        If the file is not a trace, is of a newer version, cut short, or altered.
    OSError
        If the file cannot be read.
    """
    from paddle_lab.trace.file import load as load_record

    return Trace(load_record(path))
