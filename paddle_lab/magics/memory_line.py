"""``%paddle_mem``: the live chart, the report of a session, and letting go."""

from __future__ import annotations

import difflib
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from paddle_lab.magics.free_button import show_free_button
from paddle_lab.magics.ledger_keeper import LedgerKeeper
from paddle_lab.magics.live_chart import LiveChart
from paddle_lab.magics.notebook_memory import NotebookMemory
from paddle_lab.magics.options import COMMANDS, HELP


class MemoryLineMagic:
    """``%paddle_mem`` in one IPython shell."""

    def __init__(self, shell: Any, memory: NotebookMemory) -> None:
        self._shell = shell
        self._memory = memory
        self._chart = LiveChart(memory)
        self._keeper = LedgerKeeper(shell, memory, self._chart)

    def register(self) -> None:
        """Make the magic known, and begin the ledger."""
        self._shell.register_magic_function(self.run, magic_kind="line", magic_name="paddle_mem")
        self._keeper.register()

    def unregister(self) -> None:
        """Take the magic away again, and end the chart."""
        self._chart.end("paddle_lab was unloaded")
        self._keeper.unregister()
        self._shell.magics_manager.magics["line"].pop("paddle_mem", None)

    @magic_arguments("paddle_mem")
    @argument(
        "command",
        nargs="?",
        default="on",
        help="on (unless given): a chart of memory that moves while cells run. "
        "off: end it. report: what each cell did to memory, and who holds what is alive now. "
        "free: let go of kept outputs and tracebacks that nobody else holds.",
    )
    @argument(
        "--height", type=int, default=300, metavar="PX", help="Height of the chart, in pixels."
    )
    def run(self, line: str) -> Any:
        """See where memory goes while cells run; ``%%paddle_mem`` shows where one cell's went."""
        try:
            options, unknown = self.run.parser.parse_known_args(line.split())
        except UsageError as error:
            raise UsageError(f"%paddle_mem: {error}") from None
        if options.command not in COMMANDS or unknown:
            raise UsageError(_complaint(options.command, unknown))
        if not 160 <= options.height <= 2000:
            raise UsageError(f"%paddle_mem: --height is 160 to 2000 pixels, not {options.height}")
        if options.command == "on":
            self._chart.show(height=options.height, cell=self._keeper.cell_label)
        elif options.command == "off":
            if not self._chart.end("%paddle_mem off"):
                print("No chart is on.")  # noqa: T201  (the answer of a command)
        elif options.command == "free":
            print(self._memory.release())  # noqa: T201
        else:
            self._report()

    def _report(self) -> None:
        from paddle_lab.views.memory_report import MemoryReport

        allocated = self._memory.read()
        living = None
        try:
            living = self._memory.living_everywhere()
        except ImportError as error:
            raise UsageError(str(error)) from None
        except KeyboardInterrupt:
            pass
        if living is None:
            # Anew: the traceback of the search would keep all alive that it had found.
            raise KeyboardInterrupt
        report = MemoryReport(
            self._memory.ledger,
            living.tensors(),
            allocated={place: counters["allocated"] for place, counters in allocated.items()},
            graphs=living.backward_graphs(),
            is_complete=living.is_complete,
        )
        display(report)
        show_free_button(self._memory, report.releasable_bytes)


def _complaint(command: str, unknown: list[str]) -> str:
    """Return a sentence on words that are not known, or too many."""
    word = command if command not in COMMANDS else unknown[0]
    if word in HELP:
        return "%paddle_mem? shows what it does"
    if word == command and command in COMMANDS:
        return f"%paddle_mem {command}: once is enough"
    if command in COMMANDS and word in COMMANDS:
        return f"%paddle_mem does one thing at a time: {command} or {word}"
    near = difflib.get_close_matches(word.lower(), (*COMMANDS, "--height"), n=1)
    advice = f"did you mean {near[0]}?" if near else f"it has {', '.join(COMMANDS)}"
    return f"%paddle_mem has no {word!r}; {advice}"
