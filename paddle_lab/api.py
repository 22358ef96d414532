"""The public interface of a trace: :class:`Trace`, saving and showing it, and :func:`load`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from paddle_lab.options import hints_options
from paddle_lab.trace.file import load as load_record
from paddle_lab.trace.file import save, write_atomically
from paddle_lab.trace.record import Origin
from paddle_lab.trace.schema import PROGRAM_KINDS
from paddle_lab.trace_answers import TraceAnswers
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.analysis.tables.ops import Op
    from paddle_lab.trace.record import Record
    from paddle_lab.views.html.notebook_output import GraphOutput, StillGraph
    from paddle_lab.views.widgets.graph_widget import GraphWidget

PathLike = str | os.PathLike[str]
View = Literal["ladder", "forward", "backward"]
WidgetView = Literal["ladder", "forward", "backward", "memory", "table", "time"]
Theme = Literal["light", "dark"]


class Trace(TraceAnswers):
    """What a cell computed: every op, its tensors, stack and layer, and its backward graphs.

    :func:`paddle_lab.trace`, ``%%paddle_trace`` and :func:`paddle_lab.load` make traces. A trace at
    the end of a notebook cell is shown as an interactive graph.

    Parameters
    ----------
    record
        The trace's tables; ``None`` while the trace is being recorded.
    """

    comparison: Any = None
    """The :class:`Comparison` with the trace of ``trace(against=…)``, or of :func:`rerun` with the
    second run. If there is one, a notebook shows it in place of the trace."""
    _packed_of: Record | None = None
    """The record from which the data of the page was made. Each language has its own record."""
    _payload: bytes = b""
    _stored_payload: bytes | None = None

    def save(self, path: PathLike) -> Path:
        """Write the trace to a file that :func:`paddle_lab.load` opens; return its path.

        The file is written under another name and then renamed, so an interrupted save does not
        damage an existing file.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        return save(self.record, path)

    def to_html(self, path: PathLike) -> Path:
        """Write an HTML file with the interactive graph. It needs no network and no kernel.

        Raises
        ------
        OSError
            If the file cannot be written, or if this installation lacks the built front end.
        """
        return write_atomically(path, self.page_html().encode("utf-8"))

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
        from paddle_lab.views.svg.picture import svg_picture

        picture = svg_picture(self._drawn_record, view=view, theme=theme, depth=depth)
        return write_atomically(path, picture.encode("utf-8"))

    def to_chrome_trace(self, path: PathLike) -> Path:
        """Write ops, layers and memory as JSON for ui.perfetto.dev or chrome://tracing.

        If the name ends in ``.gz``, the file is compressed; Perfetto opens compressed files.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from paddle_lab.interchange.chrome_trace import chrome_trace

        data = chrome_trace(self._attribution).encode("utf-8")
        if str(path).endswith(".gz"):
            import gzip

            data = gzip.compress(data, compresslevel=6)
        return write_atomically(path, data)

    def to_speedscope(self, path: PathLike) -> Path:
        """Write the host time as JSON for www.speedscope.app: a flame graph of Python's stacks.

        Each thread is one profile. Below Python's lines are the ops that they called. In the cell's
        thread, the time outside Paddle's ops and the time of the trace itself are frames as well.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from paddle_lab.interchange.speedscope import speedscope

        return write_atomically(path, speedscope(self.view_record).encode("utf-8"))

    def to_netron(self, path: PathLike) -> Path:
        """Write the forward graph for netron.app, which shows the source line of each op.

        The file looks like the ``model.json`` that ``paddle.jit.save`` writes, but it is only for
        viewing: Paddle cannot run it.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from paddle_lab.interchange.netron import netron_model

        return write_atomically(path, netron_model(self.view_record).encode("utf-8"))

    def to_api_config(self, path: PathLike) -> Path:
        """Write the distinct calls of ops as lines of ``FLAGS_trace_api``, for PaddleAPITest.

        A line has the name of the public API (``paddle.concat``) if the API passes its arguments on
        unchanged, otherwise the name of the op (``paddle._C_ops.dropout``). Tensors are replaced by
        shapes and dtypes. Calls are omitted if some of their arguments are not in the trace: an
        index with a tensor and numbers, a shape given as a tensor, ``1 - x`` (which looks like ``x
        - 1``), lists of 32 items.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from paddle_lab.interchange.api_config import api_config

        return write_atomically(path, api_config(self.record).encode("utf-8"))

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

        return write_atomically(path, memory_snapshot(self._attribution))

    @hints_options
    def to_memory_csv(
        self, path: PathLike, *, time_ns: int | None = None, place: str | None = None
    ) -> Path:
        """Write the blocks that were alive at a moment as a CSV file, the largest first.

        Parameters
        ----------
        path
            Where to write.
        time_ns
            The moment, in ns since the trace began; the peak by default.
        place
            ``"cpu"``, ``"gpu:0"``; by default the place of ``trace.memory``.

        Raises
        ------
        ValueError
            If no memory was recorded, or none of this place.
        OSError
            If the file cannot be written.
        """
        from paddle_lab.interchange.memory_csv import memory_csv

        memory = self.memory if place is None else self.memory.on(place)
        return write_atomically(path, memory_csv(memory, time_ns=time_ns).encode("utf-8"))

    @property
    def programs(self) -> list[ProgramTrace]:
        """The programs that ``to_static`` or an ``Executor`` ran, each as a separate trace.

        In this trace each run of a program is one op, ``run_program``. The pictures of the graph
        also show the program's ops inside the op of its first run.
        """
        from paddle_lab.programs.record import record_of
        from paddle_lab.programs.splice import programs_of

        table, found = self.record.programs, []
        for number, told in programs_of(self.record).items():
            is_own = table["program"] == number
            ops = table["op"][is_own].tolist()
            is_alone = all(int((table["op"] == op).sum()) == ops.count(op) for op in ops)
            ran_in = [self.ops[op] for op in dict.fromkeys(ops)]
            record = record_of(told, Origin(title=say("reports.programs.one", n=number + 1)))
            program = ProgramTrace(record)
            program.kind, program.ran_in = PROGRAM_KINDS[int(table["kind"][is_own][0])], ran_in
            program.duration_ns = sum(op.duration_ns for op in ran_in) if is_alone else None
            found.append(program)
        return found

    def summary(self) -> str:
        """Return a summary of the trace as text.

        It lists the layers (calls, output shapes, parameters, FLOPs, bytes, host time), their
        totals, the findings and the backward calls. Each parameter that ops in
        layers read counts once; the statistics of batch normalisation do not count. :meth:`table`
        has the same figures as columns.
        """
        from paddle_lab.views.text.summary import summary_text

        return summary_text(self._shown_record)

    def payload(self) -> bytes:
        """Return the record and the answer tables as the bytes that the front end reads."""
        from paddle_lab.trace.pack import pack_seen

        record = self._drawn_record
        if record is not self._packed_of:
            self._packed_of, self._payload, self._stored_payload = record, pack_seen(record), None
        return self._payload

    def _stored(self) -> bytes:
        """Return the part of the payload that a notebook stores."""
        from paddle_lab.trace.pack import pack_seen
        from paddle_lab.views.reduction.stored import stored_payload

        payload = self.payload()
        if self._stored_payload is None:
            stored = stored_payload(self._drawn_record, payload)
            if stored is not payload and self._drawn_record is not self._shown_record:
                # If the record is too large, the ops inside compiled programs are omitted first.
                stored = stored_payload(self._shown_record, pack_seen(self._shown_record))
            self._stored_payload = stored
        return self._stored_payload

    def page_html(self) -> str:
        """Return the text of the file that :meth:`to_html` writes."""
        from paddle_lab.views.html.page import html_page

        return html_page(self._shown_record, payload=self.payload())

    def fallback_html(self) -> str:
        """Return the HTML that replaces the graph if no widget can be drawn."""
        from paddle_lab.views.html.fallback import fallback_html

        return fallback_html(self._shown_record)

    @hints_options
    def widget(self, *, view: WidgetView = "forward", height: int = 560) -> GraphWidget:
        """Return the trace as a notebook widget.

        Parameters
        ----------
        view
            What to show first. ``"table"`` ranks costs; ``"time"`` is an icicle plot of host time.
        height
            Height, 240 to 4000 pixels.

        Raises
        ------
        ValueError
            If there is no such view, or the height is out of bounds.
        """
        return self._widget(view, height, None)

    def shown(
        self,
        *,
        view: WidgetView = "forward",
        height: int = 560,
        show_early: Callable[[dict[str, Any]], None] | None = None,
    ) -> GraphWidget | StillGraph:
        """Return the output for a notebook: a widget, or its substitute if there are no widgets.

        Parameters
        ----------
        view, height
            See :meth:`widget`.
        show_early
            Displays output data. It is called as soon as the page has the widget's data. The data
            that the notebook stores is made afterwards, which takes time for a large trace.
        """
        try:
            import paddle_lab.views.widgets.graph_widget  # noqa: F401
        except ImportError as error:
            from paddle_lab.views.html.notebook_output import StillGraph, kernel_lacks

            return StillGraph(self._output(view, height), kernel_lacks(error))
        return self._widget(view, height, show_early)

    def _widget(
        self, view: WidgetView, height: int, show_early: Callable[[dict[str, Any]], None] | None
    ) -> GraphWidget:
        from paddle_lab.value_answers import ValueAnswers
        from paddle_lab.views.widgets.graph_widget import GraphWidget

        answers = ValueAnswers(self)
        output = self._output(view, height)
        widget = GraphWidget(output, page_of=page_of, value_of=answers.answer)
        if show_early is not None:
            show_early(widget.early_data())
        widget.store()
        return widget

    def _output(self, view: WidgetView, height: int) -> GraphOutput:
        from paddle_lab.views.html.fallback import still_content
        from paddle_lab.views.html.notebook_output import GraphOutput

        return GraphOutput(
            payload=self.payload(),
            stored=self._stored,
            still_content=lambda: still_content(self._shown_record),
            text=repr(self),
            view=view,
            height=height,
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        if self.is_recording:
            return {"text/plain": repr(self)}
        return (self.comparison or self).shown()._repr_mimebundle_(**kwargs)

    def __repr__(self) -> str:
        if self._record is None:
            return "<Trace: still recording>"
        from paddle_lab.views.text.summary import one_line

        return f"<Trace: {one_line(self._shown_record)}>"


class ProgramTrace(Trace):
    """A program that ran in a traced cell, as a trace of the program's ops and lines."""

    kind: str
    """``"full_graph"``, ``"sot"`` or ``"executor"``."""
    ran_in: list[Op]
    """The ops of the cell's trace that ran the program: one for each run."""
    duration_ns: int | None
    """The host time of these ops; ``None`` if one of them also ran other programs."""


def load(path: PathLike) -> Trace:
    """Open a file that :meth:`Trace.save` wrote; Paddle need not be installed.

    Raises
    ------
    TraceFileError
        If the file is not a trace, is of another format, cut short, or altered.
    OSError
        If the file cannot be read.
    """
    return Trace(load_record(path))


def load_dump(directory: PathLike) -> Trace:
    """Open Paddle's own dumps of graphs, stacks and its log; Paddle need not be installed.

    These are the files of ``dump_backward_graph_path``, of ``capture_forward_subgraph_guard`` and
    ``capture_backward_subgraph_guard``, of ``FLAGS_dump_api_python_stack_path`` and
    ``FLAGS_dump_grad_node_forward_stack_path``, and its log (``GLOG_v``), under any name. They are
    joined by the names and pointers that Paddle writes with ``FLAGS_enable_unique_name=1``.

    Files with values become ops with digests, for :func:`paddle_lab.compare`: the checksums of
    ``FLAGS_tensor_md5_checksum_output_path``, and PaDiff's ``report.json`` with its arrays. These
    files contain outputs but no inputs, so the graph has no edges. A gradient becomes an op of the
    phase ``backward``.

    Parameters
    ----------
    directory
        Where the files are, also in subfolders; or one file. If several processes wrote them, each
        process is a region of the trace.

    Returns
    -------
    Trace
        A trace with only what the files contain. Its notices name files that are damaged or
        unknown.

    Raises
    ------
    TraceFileError
        If the directory has no such files.
    OSError
        If there is no such directory, or the directory cannot be read.
    """
    from paddle_lab.dumps.record import read_dump

    return Trace(read_dump(Path(directory)))


def page_of(payload: bytes) -> str:
    """Return the page of a graph, from the bytes of :meth:`Trace.payload`."""
    from paddle_lab.trace.unpack import unpack

    return Trace(unpack(payload)).page_html()
