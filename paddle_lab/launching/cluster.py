"""A run in the engines of an ipyparallel cluster: each engine is a rank.

The engines go on after the run, so the next run finds the variables of this run. The engines must
be able to read and write the directory of the run.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from paddle_lab.capture.ranks.rank_session import CHECK_COLLECTIVES
from paddle_lab.capture.ranks.rank_setup import has_gpu
from paddle_lab.launching.job import refuse_files
from paddle_lab.launching.rank_program import run_rank
from paddle_lab.runs.directory import STALL_S, RunDirectory
from paddle_lab.words import say

_LOOK_S: Final = 0.2
_STOP_S: Final = 5.0


def client_of(name: str, variables: Mapping[str, Any]) -> Any:
    """Return a client of a cluster.

    Parameters
    ----------
    name
        The name of a variable that is a client or a cluster, or the id of a cluster.
    variables
        The notebook's variables.

    Raises
    ------
    OSError
        If ipyparallel is not installed, or if there is no such cluster.
    """
    try:
        from ipyparallel import Client, Cluster
    except ImportError:
        raise OSError(say("runs.cluster.no_ipyparallel")) from None
    held = variables.get(name)
    if isinstance(held, Client):
        return held
    try:
        found = held if isinstance(held, Cluster) else Cluster.from_file(cluster_id=name)
        return found.connect_client_sync()
    except Exception as error:  # noqa: BLE001  (ipyparallel raises many kinds)
        raise OSError(say("runs.cluster.none", name=name, error=str(error))) from None


class ClusterJob:
    """Runs a script in the engines of a cluster, as :class:`~paddle_lab.launching.job.Job` does.

    Parameters
    ----------
    script
        The script, in the directory of the run.
    client
        A client of the cluster.
    checks_collectives, write, show
        As for a ``Job``.

    Raises
    ------
    FileExistsError
        If the directory has files.
    """

    def __init__(
        self,
        script: Path,
        *,
        client: Any,
        checks_collectives: bool,
        write: Callable[[str], object],
        show: Callable[[RunDirectory], object],
    ) -> None:
        refuse_files(script.parent)
        self._script = script.absolute()
        self._engines = client[:]
        self._client = client
        self._check = "1" if checks_collectives else ""
        self._write = write
        self._show = show
        self._directory = RunDirectory(self._script.parent, stall_s=STALL_S)
        self._printed: dict[tuple[int, str], int] = {}

    def run(self) -> None:
        """Run the script to its end. Pass an interrupt on to the engines.

        Raises
        ------
        OSError
            If an engine does not see the directory.
        """
        endpoints = self._engines.apply_sync(endpoint_for, str(self._script))
        if not all(endpoints):
            raise OSError(say("runs.cluster.no_directory", path=str(self._script.parent)))
        calls = [
            self._client[engine].apply_async(
                run_in_engine, str(self._script), rank, endpoints, self._check
            )
            for rank, engine in enumerate(self._engines.targets)
        ]
        has_ended = False
        try:
            while not all(call.ready() for call in calls):
                time.sleep(_LOOK_S)
                self._look(calls)
            has_ended = True
        finally:
            if not has_ended:
                self._directory.note_stop()
                self._client.send_signal(signal.SIGINT, block=True)
                self._client.wait(calls, timeout=_STOP_S)
            # A call that hangs in a collective has not ended.
            code = max(
                int(call.get()) if call.ready() and call.successful() else 1 for call in calls
            )
            self._directory.write_end(code)
            self._look(calls)

    def _look(self, calls: list[Any]) -> None:
        for rank, call in enumerate(calls):
            for stream in ("stdout", "stderr"):
                text = getattr(call, stream)
                begin = self._printed.get((rank, stream), 0)
                end = text.rfind("\n") + 1
                self._printed[rank, stream] = end
                for line in text[begin:end].splitlines():
                    self._write(f"[{rank}] {line}\n")
        self._directory.tell(self._write, self._show, at_end=False)


def endpoint_for(script: str) -> str:
    """Return an endpoint for this engine; ``""`` if the engine cannot see the script."""
    if not Path(script).is_file():
        return ""
    host = socket.gethostbyname(socket.gethostname())
    # Systems give sockets of other programs, such as gloo's, ports from 32,768 on (Linux) or
    # 49,152, so they cannot take one of these before the store binds it.
    # Random numbers of the system leave those of the user's program as they are.
    ports = random.SystemRandom().sample(range(12_000, 32_768), 100)
    with socket.socket() as taken:
        for port in (*ports, 0):  # the system chooses the last
            with suppress(OSError):
                taken.bind((host, port))
                break
        return f"{host}:{taken.getsockname()[1]}"


def run_in_engine(script: str, rank: int, endpoints: list[str], check: str) -> int:
    """Run a script in this engine as one rank, and return its exit code."""
    os.environ |= {
        "PADDLE_TRAINER_ID": str(rank),
        "PADDLE_TRAINERS_NUM": str(len(endpoints)),
        "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints),
        "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
        CHECK_COLLECTIVES: check,
    }
    if not has_gpu():
        os.environ["PADDLE_DISTRI_BACKEND"] = "gloo"  # as Paddle's launcher does
    code = compile(Path(script).read_bytes(), script, "exec")
    return run_rank(code, vars(sys.modules["__main__"]), Path(script).parent, rank)
