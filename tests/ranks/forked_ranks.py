"""Runs planted programs in ranks that are forked from one process that has imported Paddle.

``forked_ranks.py RANKS DIRECTORY PROGRAM…`` writes each program's run to the directory
``DIRECTORY/NAME``. A program with ``plain:`` before it is not traced; its values are in
``DIRECTORY/NAME.plain``. When standard input ends, all ranks are killed.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import zlib
from contextlib import suppress
from pathlib import Path

import paddle
import psutil

import paddle_lab
from paddle_lab.capture.ranks.rank_session import CHECK_COLLECTIVES
from paddle_lab.launching.rank_program import run_rank

PLAIN = "plain:"
PORTS = iter(range(12_000 + os.getpid() % 64 * 250, 32_768))


def free_port() -> int:
    """Return a free port below those that the system chooses.

    Another job's gloo might get one of these before this job's store binds it. Then the store
    aborts, and its ranks talk to the other job.
    """
    for port in PORTS:
        with socket.socket() as taken, suppress(OSError):
            taken.bind(("127.0.0.1", port))
            return port
    raise OSError("no free port")


def digest(names: dict[str, object]) -> str:
    """Return what a program computed: a digest of its tensors and of its layers' parameters."""
    found = {}
    for name, value in names.items():
        tensors = value.parameters() if isinstance(value, paddle.nn.Layer) else [value]
        held = [one for one in tensors if isinstance(one, paddle.Tensor)]
        if held:
            found[name] = [zlib.crc32(one.numpy().tobytes()) for one in held]
    return json.dumps(found, sort_keys=True)


def start(program: Path, directory: Path, ranks: int, *, is_traced: bool) -> list[int]:
    directory.mkdir()
    endpoints = [f"127.0.0.1:{free_port()}" for _ in range(ranks)]
    processes = []
    for rank in range(ranks):
        process = os.fork()
        if process:
            processes.append(process)
            continue
        threading.main_thread()._set_native_id()  # Python does not after a fork
        os.environ |= {
            "PADDLE_TRAINER_ID": str(rank),
            "PADDLE_TRAINERS_NUM": str(ranks),
            "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints),
            "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
            "PADDLE_DISTRI_BACKEND": "gloo",
            CHECK_COLLECTIVES: "1" if program.parent.name == "checked" else "",
        }
        output = os.open(directory / f"output.{rank}", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        code, names = compile(program.read_text(), str(program), "exec"), {"__name__": "__main__"}
        status = 0
        if is_traced:
            status = run_rank(code, names, directory, rank, launcher=os.getppid())
        else:
            exec(code, names)
        (directory / f"values.{rank}").write_text(digest(names))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return processes


def main() -> None:
    with paddle_lab.trace():  # imports and finds once what each first trace would
        paddle.nn.Linear(2, 2)(paddle.ones([1, 2])).mean().backward()
    ranks, directory = int(sys.argv[1]), Path(sys.argv[2])
    running: list[int] = []
    for argument in sys.argv[3:]:
        program = Path(argument.removeprefix(PLAIN))
        if argument.startswith(PLAIN):
            own = directory / f"{program.stem}.plain"
            running += start(program, own, ranks, is_traced=False)
        else:
            running += start(program, directory / program.stem, ranks, is_traced=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.stdin.read()
    # Workers of a DataLoader outlive a rank that is killed.
    running += [
        worker.pid
        for worker in psutil.Process().children(recursive=True)
        if worker.pid not in running
    ]
    for process in running:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    main()
