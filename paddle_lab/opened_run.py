"""``paddle_lab.open_run(DIR)``: shows what the ranks of a job did, and where they disagree."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_lab.api import PathLike, Trace, load
from paddle_lab.trace.file import write_atomically
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.runs.directory import RunDirectory
    from paddle_lab.runs.finding import RunFinding
    from paddle_lab.views.text.run_tables import CollectiveTable


class _Traces(Mapping[int, Trace]):
    """The traces of ranks. Each is loaded when it is first used."""

    def __init__(self, paths: dict[int, Path]) -> None:
        self._paths = paths
        self._loaded: dict[int, Trace] = {}

    def __getitem__(self, rank: int) -> Trace:
        if rank not in self._loaded:
            self._loaded[rank] = load(self._paths[rank])
        return self._loaded[rank]

    def __iter__(self) -> Iterator[int]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class Run:
    """A run of several ranks. It shows itself as a page: findings, and collectives by rank.

    It has the state at the time when the directory was read. If the run continues, call
    :func:`open_run` again.

    Parameters
    ----------
    directory
        The files that the ranks wrote, already read.
    """

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory
        self.folder: object = None
        """If the directory is temporary, this object removes it when the run is no longer used."""
        self.path = directory.path
        """The directory from which the run was read."""
        self.world_size = directory.world
        """How many ranks the job has."""
        self._joined = directory.collectives
        self.findings: list[RunFinding] = directory.findings(self._joined)
        """What is wrong, the earliest problem first. Each has ``kind``, ``severity``, ``file``,
        ``line``, ``message``, ``advice``, and ``places``: the file and line of each rank."""

    @cached_property
    def ranks(self) -> Mapping[int, Trace]:
        """The trace of each rank. A rank that was killed or is still running has no trace.

        With ``paddle-lab run --record-only`` no rank has one.
        """
        return _Traces({rank: trace_path(self.path, rank) for rank in self._traced})

    @cached_property
    def collectives(self) -> CollectiveTable:
        """The collectives of the run, joined by group and sequence number, in order."""
        from paddle_lab.views.text.run_tables import CollectiveTable

        return CollectiveTable(self._joined)

    def to_html(self, path: PathLike) -> Path:
        """Write an HTML file with the findings, the ranks, and the collectives by rank.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from paddle_lab.views.html.page import plain_page

        return write_atomically(path, plain_page(self._content(), str(self.path)).encode("utf-8"))

    @property
    def _traced(self) -> list[int]:
        """The ranks that have saved a trace."""
        ranks = (log.rank for log in self._directory.logs)
        return [rank for rank in ranks if trace_path(self.path, rank).is_file()]

    def newest_html(self) -> str:
        """Return HTML of the findings, the ranks' lines, and the newest collectives."""
        return self._content(newest=40)

    def _content(self, newest: int = 0) -> str:
        from paddle_lab.views.html.run_page import run_content

        directory = self._directory
        states = {log.rank: directory.is_alive(log) for log in directory.logs}
        return run_content(
            directory.logs, states, self._joined, self.findings, directory.world, newest
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:  # noqa: ARG002
        content = self._content()
        still = {"text/html": content, "text/plain": repr(self)}
        try:
            from paddle_lab.views.widgets.run_widget import run_widget_data
        except ImportError:  # without ipywidgets there are no buttons
            return still
        if not self._traced:
            return still
        return {**run_widget_data(content, self._traced, self._widget_of), **still}

    def _widget_of(self, rank: int) -> Any:
        return self.ranks[rank].widget()

    def __repr__(self) -> str:
        ranks, calls = len(self._directory.logs), len(self._joined)
        head = say("runs.summary", n=ranks, world=self.world_size, calls=calls)
        return "\n".join([head, *map(str, self.findings)])


def open_run(directory: PathLike) -> Run:
    """Open the directory of a run that ``paddle-lab run`` or ``%%paddle_ranks`` wrote.

    The run may still be running, and the directory may be a copy from another machine. Paddle need
    not be installed.

    Raises
    ------
    FileNotFoundError
        If there is no such directory, or if no rank has written into it.
    OSError
        If the directory cannot be read.
    """
    from paddle_lab.runs.directory import RunDirectory

    path = Path(os.fspath(directory))
    found = RunDirectory(path)
    found.read()
    if not found.logs:
        raise FileNotFoundError(say("runs.nothing_there", path=str(path)))
    return Run(found)


def trace_path(directory: Path, rank: int) -> Path:
    """Return the path at which a rank saves its trace."""
    return directory / f"rank-{rank}.pltrace"
