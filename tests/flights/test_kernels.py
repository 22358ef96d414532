"""The next kernel of a notebook reports how the last one died: once, and without false alarms."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client import BlockingKernelClient, KernelManager

from paddle_lab.capture.native import NATIVE

pytestmark = pytest.mark.skipif(NATIVE is None, reason="only the native part keeps the record")
LOAD = "%load_ext paddle_lab\nimport paddle_lab"
ASK = "print('crash:', paddle_lab.last_crash())"
DIE = "%%paddle_trace -q\nx = paddle.ones([2])\ny = x + 1\nctypes.string_at(0)"
WAIT = """\
%%paddle_trace
x = paddle.ones([2])
signal.signal(signal.SIGINT, signal.SIG_IGN)
lock.acquire()"""


class Notebook:
    """A kernel that is restarted as a server does it."""

    def __init__(self, folder: Path) -> None:
        self.manager = KernelManager(kernel_name="python3")
        self.manager.shutdown_wait_time = 0.6
        self.manager.start_kernel(env={**os.environ, "TMPDIR": str(folder)})
        self.client: BlockingKernelClient = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def restart(self, *, now: bool = True) -> str:
        """Restart the kernel, load the extension, and return what that shows."""
        self.manager.restart_kernel(now=now)
        self.client.wait_for_ready(timeout=60)
        return self.run(LOAD)

    def run(self, code: str, until: str | None = None) -> str:
        """Run a cell and return its output: all of it, or until a text appears or it dies."""
        shown: list[str] = []
        request = self.client.execute(code)
        while self.manager.is_alive():
            try:
                message = self.client.get_iopub_msg(timeout=0.5)
            except Exception:  # noqa: BLE001  (queue.Empty)
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            content = message["content"]
            shown.append(content.get("text", "") + content.get("data", {}).get("text/plain", ""))
            is_idle = content.get("execution_state") == "idle"
            if is_idle if until is None else until in shown[-1]:
                break
        return "".join(shown)

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def notebooks(tmp_path: Path) -> Iterator[tuple[Notebook, Notebook]]:
    both = Notebook(tmp_path), Notebook(tmp_path)
    yield both
    for notebook in both:
        notebook.close()


def test_a_crash_is_reported_once_and_to_its_notebook(
    notebooks: tuple[Notebook, Notebook], tmp_path: Path
) -> None:
    notebook, other = notebooks
    assert "SIG" not in notebook.run(LOAD)
    notebook.run(f"import ctypes, paddle\n{ASK}")
    notebook.run(DIE)
    assert not notebook.manager.is_alive()
    assert "SIG" not in other.run(LOAD)
    assert "crash: None" in other.run(ASK)

    shown = notebook.restart()
    assert "SIGSEGV" in shown
    assert "cell [3], line 3  y = x + 1" in shown  # the last op
    assert "cell [3], line 4, in <module>" in shown  # the line that died
    assert "SIGSEGV" in notebook.run(ASK)
    assert "SIG" not in notebook.run("%reload_ext paddle_lab")

    notebook.run("import paddle")
    notebook.run("%%paddle_trace -q\npaddle.ones([2])")
    shown = notebook.restart(now=False)  # a normal end
    assert "SIG" not in shown
    assert "asked" not in shown
    assert "crash: None" in notebook.run(ASK)

    notebook.run("import paddle, signal, threading")
    notebook.run("from paddle_lab.capture.flight.stalls import StallWatch")
    notebook.run("StallWatch.stall_s = 1.0\nlock = threading.Lock()\nlock.acquire()")
    shown = notebook.run(WAIT, until="waits for a lock, `lock`")
    assert "MainThread: cell [6], line 4  lock.acquire()" in shown
    shown = notebook.restart(now=False)  # a busy kernel is asked, and killed at last
    assert "asked to shut down or restart" in shown
    assert "SIGSEGV" not in shown
    assert not list(tmp_path.glob("paddle-lab-flights-*/*"))
