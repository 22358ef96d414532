"""A real Jupyter server for one test session, with its own port, root and configuration."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Application = Literal["lab", "notebook"]

_START_LIMIT_S = 120
_RESTART_S = 5
_NOTIFICATION = "@jupyterlab/apputils-extension/notification.jupyterlab-settings"


@dataclass(frozen=True)
class JupyterServer:
    """A running server: ``root`` holds its notebooks, ``settings`` what its user has set."""

    application: Application
    url: str
    root: Path
    settings: Path

    def page_url(self, path: str) -> str:
        """Address that opens ``path`` (relative to the root) in the application."""
        if self.application == "lab":
            return f"{self.url}lab/workspaces/test/tree/{path}?reset"
        return f"{self.url}notebooks/{path}"

    def running_kernels(self) -> int:
        """Count the kernels that run."""
        return len(self._api("GET", "api/kernels"))

    def forget_settings(self) -> None:
        """Reset what a test has set, such as a theme or the saving of widgets' state."""
        for kept in self.settings.rglob("*.jupyterlab-settings"):
            if kept != self.settings / _NOTIFICATION:
                kept.unlink(missing_ok=True)

    def end_kernels(self) -> None:
        """Shut down every session and with it its kernel."""
        for session in self._api("GET", "api/sessions"):
            address = f"api/sessions/{session['id']}"
            try:
                self._api("DELETE", address)
            except urllib.error.HTTPError:
                # While the server restarts a kernel that has died, it cannot end the kernel.
                time.sleep(_RESTART_S)
                self._api("DELETE", address)

    def _api(self, method: str, path: str) -> list[dict[str, str]]:
        request = urllib.request.Request(self.url + path, method=method)
        with urllib.request.urlopen(request, timeout=30) as response:
            body = response.read()
        return json.loads(body) if body else []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def jupyter_server(
    application: Application, directory: Path, *more: str
) -> Iterator[JupyterServer]:
    """Start JupyterLab or Notebook 7 below ``directory`` and stop it afterwards.

    ``more`` is passed on to it; below ``directory / "data"`` it finds kernels beside its own.
    """
    root = directory / "root"
    root.mkdir(parents=True)
    runtime = directory / "runtime"
    settings = directory / "settings"
    # A new user is asked about news; the question covers the page.
    notification = settings / _NOTIFICATION
    notification.parent.mkdir(parents=True)
    notification.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(directory / "config"),
        "JUPYTER_DATA_DIR": str(directory / "data"),
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTERLAB_SETTINGS_DIR": str(settings),
        "JUPYTERLAB_WORKSPACES_DIR": str(directory / "workspaces"),
        "IPYTHONDIR": str(directory / "ipython"),
    }
    options = {
        "lab": ["jupyterlab", "--LabApp.expose_app_in_browser=True"],
        "notebook": ["notebook", "--JupyterNotebookApp.expose_app_in_browser=True"],
    }[application]
    log_path = directory / "server.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                *options,
                "--no-browser",
                "--allow-root",
                "--ip=127.0.0.1",
                f"--port={_free_port()}",
                "--IdentityProvider.token=",
                "--ServerApp.disable_check_xsrf=True",
                f"--ServerApp.root_dir={root}",
                *more,
            ],
            env=environment,
            cwd=root,
            stdout=log,
            stderr=log,
        )
        try:
            url = _wait_until_up(process, runtime, log_path)
            yield JupyterServer(application, url, root, settings)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_up(process: subprocess.Popen[bytes], runtime: Path, log_path: Path) -> str:
    """Return the address that the server listens on, as soon as the server answers."""
    limit = time.monotonic() + _START_LIMIT_S
    while time.monotonic() < limit and process.poll() is None:
        for information in runtime.glob("jpserver-*.json"):
            # Reading fails until the file is complete, and asking fails until the server listens.
            with suppress(OSError, ValueError):
                url: str = json.loads(information.read_text())["url"]
                with urllib.request.urlopen(f"{url}api/status", timeout=5):
                    return url
        time.sleep(0.1)
    message = f"The Jupyter server did not start:\n{log_path.read_text()[-4000:]}"
    raise RuntimeError(message)
