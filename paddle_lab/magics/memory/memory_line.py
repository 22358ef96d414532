"""``%paddle_mem``: the live chart, the memory report of a session, and freeing memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser
from IPython.display import display

from paddle_lab.magics.memory.live_chart import LiveChart
from paddle_lab.magics.memory.notebook_memory import NotebookMemory
from paddle_lab.magics.options import LINE_MAGIC, explained, parsed
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.capture.memory.living_tensors import LivingTensors

_HEIGHTS_PX = 160, 2000


def _parser() -> MagicArgumentParser:
    parser = MagicArgumentParser(LINE_MAGIC[1:], description=say("magics.help.line"))
    parser.add_argument("command", nargs="?", default="on", help=say("magics.help.command"))
    height = say("magics.help.chart_height")
    parser.add_argument("--height", type=int, default=300, metavar="PX", help=height)
    return parser


class MemoryLineMagic:
    """``%paddle_mem`` in one IPython shell."""

    def __init__(self, shell: Any, memory: NotebookMemory, chart: LiveChart) -> None:
        self._shell = shell
        self._memory = memory
        self._chart = chart

    def register(self) -> None:
        """Register the magic."""
        self._shell.register_magic_function(self.run, magic_kind="line", magic_name="paddle_mem")

    def unregister(self) -> None:
        """Remove the magic, and stop the chart."""
        self._chart.end(say("magics.unloaded"))
        self._shell.magics_manager.magics["line"].pop("paddle_mem", None)

    @explained(lambda: _parser().format_help())
    def run(self, line: str) -> Any:
        """Run a command about memory: the live chart, a report, or freeing memory."""
        options = parsed(LINE_MAGIC, _parser(), line.split(), _HEIGHTS_PX)
        if options.command == "on":
            number = len(self._shell.history_manager.input_hist_raw) - 1
            self._chart.show(height=options.height, cell=f"[{number}]")
        elif options.command == "off":
            if not self._chart.end("%paddle_mem off"):
                print(say("magics.no_chart_on"))  # noqa: T201  (the answer of a command)
        elif options.command == "free":
            print(self._memory.release())  # noqa: T201
        else:
            self._report()

    def _report(self) -> None:
        from paddle_lab.magics.free_button import show_free_button

        living: LivingTensors | None
        try:
            living = self._memory.living()
            self._memory.search_libraries(living)
        except ImportError as error:
            raise UsageError(str(error)) from None
        except KeyboardInterrupt:
            living = None
        if living is None:
            # Raise a new exception, because the first one's traceback would keep the results alive.
            raise KeyboardInterrupt
        report = self._memory.report(living, self._memory.ledger)
        display(report)
        show_free_button(self._memory, report.releasable_bytes)
