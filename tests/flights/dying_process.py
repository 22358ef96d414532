"""Forks a process for each given way to die, after 10,000 traced ops: ``FOLDER WAY…``."""

import os
import sys
from pathlib import Path

import paddle

import paddle_lab
from paddle_lab.flights.folder import KEPT

OPS = """\
x = paddle.ones([2])
net = paddle.nn.Linear(2, 2)
for number in range(10_000):
    x = x + 1
y = net(x)
"""
FORK = "if not os.fork():\n    x * 2\n    os.abort()\nos.wait()\nx - 1\nos._exit(3)"
WAYS = {
    "segv": "import ctypes\n\n\ndef read():\n    ctypes.string_at(0)\n\n\nread()",
    "abrt": "import os\nos.abort()",
    "thread": "import ctypes, time\nlibc = ctypes.CDLL(None)\n"
    "libc.pthread_create(ctypes.byref(ctypes.c_ulong()), None, libc.abort, None) or time.sleep(60)",
    "kill": "import os\nos.kill(os.getpid(), 9)",
    "term": "import os\nos.kill(os.getpid(), 15)",
    "exit": "import os\nos._exit(3)",
    "backward": "import os\ny.register_hook(lambda grad: os._exit(3))\ny.sum().backward()",
    "fork": f"import os\n{FORK}",
    "nested": "import os\nwith paddle_lab.trace():\n    x - 1\n    os._exit(3)",
    "end": "",
}


def main(folder: str, *ways: str) -> None:
    for way in ways:
        process = os.fork()
        if not process:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            KEPT.append((Path(folder), way))
            with paddle_lab.trace(title="the cell"):
                exec(
                    compile(OPS + WAYS[way], "program.py", "exec"),
                    {"paddle": paddle, "paddle_lab": paddle_lab},
                )
            sys.exit()
        _, status = os.waitpid(process, 0)
        Path(folder, f"{way}.status").write_text(str(os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    main(*sys.argv[1:])
