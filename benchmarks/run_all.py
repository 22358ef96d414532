"""Runs all benchmarks one after the other, and writes one page of their figures: ``make bench``.

``python benchmarks/run_all.py [--quick] [--only PART ...] [--again PART ...]`` writes
``FIGURES.md``, ``figures.json``, ``figures.light.svg`` and ``figures.dark.svg`` next to this file;
with ``--quick`` or ``--only``, into ``quick/``, which git ignores. ``--again`` measures some parts
again and updates the existing page. A script that fails or takes too long leaves a row that says
so, and the others still run. ``BENCH_PYTHON`` and ``BENCH_NODE`` name the Python and the folder
with ``node_modules`` that have the other tools.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# This file is run by its path: add the repository, which has the modules it needs, to the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import Figure, read
from benchmarks.figures_page import Part, Run, page, read_run, write_run
from benchmarks.page_driver import chromium, tools_python

FOLDER = Path(__file__).resolve().parent
LIMIT_S, QUICK_LIMIT_S = 300, 60
# Other tools are slow, so their limit is longer.
LIMITS_S = {
    "first_picture.py": 900,
    "pages.py": 720,
    "recorded_steps.py": 600,
    "sampler.py": 600,
    "crossings.mjs": 1200,
    "reruns.py": 2400,
}
# The folder with the graphs of `crossings.mjs` and dot's layouts, which take long the first time.
CORPUS = Path(os.environ.get("BENCH_CORPUS", FOLDER / "quick" / "corpus"))
# The scripts in this order, with their arguments besides --json and --quick.
PARTS: dict[str, tuple[str, ...]] = {
    "capture.py": (),
    "recorded_steps.py": ("--minutes", "2"),
    "small_steps.py": ("--groups", "3"),
    "small_calls.py": ("--groups", "3"),
    "flight.py": ("--groups", "3"),
    "compiled.py": (),
    "guards.py": ("--limit", "60"),
    "saved.py": (),
    "first_picture.py": ("--kernels", "3", "--runs", "2"),
    "page.mjs": (),
    "pages.py": ("--limit", "40"),
    "layouts.py": (),
    # Without --quick it compares with dot, as layouts.py and crossings.mjs already do.
    "layout.mjs": ("--quick",),
    "crossings.mjs": (str(CORPUS),),
    "frames.py": ("hub-2000", "attention-2000"),
    "memory.py": (),
    "million_allocations.py": (),
    "timeline.mjs": (),
    "format.py": (),
    "sampler.py": (),
    "reruns.py": (),
}


def measured(name: str, arguments: tuple[str, ...], *, quick: bool) -> Part:
    """Run a script; return its rows, its output, and why it failed if it did."""
    script = FOLDER / name
    text = script.read_text()
    program = ["node"] if script.suffix == ".mjs" else [sys.executable, "-W", "ignore"]
    told = [name, *arguments]
    if quick and "--quick" in text and "--quick" not in told:
        told.append("--quick")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        rows_file = Path(folder) / "rows.json"
        # `figures.options` has --json; a script with its own parser names it.
        takes_rows = "--json" in text or "benchmarks.figures import" in text
        rest = [*told[1:], *(["--json", str(rows_file)] if takes_rows else [])]
        limit_s = QUICK_LIMIT_S if quick else LIMITS_S.get(name, LIMIT_S)
        printed, failure = _run([*program, str(script), *rest], limit_s)
        rows = read(rows_file) if rows_file.exists() else []
    if failure:
        rows.append(Figure(name, "benchmark", note=f"failed: {failure}"))
    runner = "node" if script.suffix == ".mjs" else "python"
    command = f"{runner} benchmarks/{' '.join(told)}".replace(str(CORPUS), "CORPUS")
    return Part(command, time.monotonic() - begin, load, rows, printed, failure)


def _run(command: list[str], limit_s: float) -> tuple[str, str]:
    """Return a command's output and why it failed; end it and its processes at the limit."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, start_new_session=True)
        failure = ""
        try:
            if code := process.wait(timeout=limit_s):
                errors.seek(0)
                lines = [line for line in errors.read().splitlines() if line.strip()]
                failure = lines[-1][:160] if lines else f"exit code {code}"
        except subprocess.TimeoutExpired:
            failure = f"longer than {limit_s:.0f} s"
        finally:
            if process.poll() is None:
                # First ask the process to end, so that it can end its own processes in other
                # sessions.
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=5)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        out.seek(0)
        return out.read().strip(), failure


def facts() -> dict[str, str]:
    """Return the facts that the figures depend on: date, machine, versions."""
    node_modules = Path(os.environ.get("BENCH_NODE", ".")) / "node_modules"
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "machine": f"{os.cpu_count()} × {_processor()}, {_memory_gib():.0f} GiB",
        "load before": ", ".join(f"{value:.1f}" for value in os.getloadavg()),
        "Python": platform.python_version(),
        **{
            name: _version(name)
            for name in ("paddlepaddle", "numpy", "jupyterlab", "anywidget", "ipykernel")
        },
        "Node": _first_line("node", "--version"),
        "Chromium": _first_line(chromium() or "chromium", "--version"),
        "dot": _first_line("dot", "-V"),
        **{name: _version_of_tool(name) for name in ("netron", "ai-edge-model-explorer", "onnx")},
        **{name: _node_version(node_modules / name) for name in ("elkjs", "@dagrejs/dagre")},
    }


def commit() -> str:
    """Return the commit that is checked out."""
    return _first_line("git", "-C", str(FOLDER), "rev-parse", "--short", "HEAD")


def put(part: Part, name: str, run: Run) -> None:
    """Put a part into a run; it replaces an earlier part of the same script."""
    scripts = [earlier.command.split()[1].removeprefix("benchmarks/") for earlier in run.parts]
    if name in scripts:
        run.parts[scripts.index(name)] = part
    else:
        run.parts.append(part)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _version_of_tool(package: str) -> str:
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return _first_line(tools_python(), "-c", code)


def _node_version(folder: Path) -> str:
    code = f"console.log(require({str(folder / 'package.json')!r}).version)"
    return _first_line("node", "-e", code) if folder.exists() else "not installed"


def _first_line(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return "not installed"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return "not installed"
    return (done.stdout or done.stderr).strip().splitlines()[0]


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few minutes, to see that it runs")
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--again", nargs="+", choices=PARTS, metavar="PART", help="into the page")
    given = parser.parse_args()
    # Users' Python stores the bytecode of imported modules.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    target = FOLDER / "quick" if given.quick or given.only else FOLDER
    target.mkdir(exist_ok=True)
    begin = time.monotonic()
    run = read_run(target / "figures.json") if given.again else Run(facts())
    with tempfile.TemporaryDirectory() as tapes:
        os.environ.setdefault("BENCH_TAPES", tapes)
        for name in given.again or given.only or PARTS:
            print(f"{time.monotonic() - begin:5.0f} s  {name}", file=sys.stderr, flush=True)
            if name == "crossings.mjs" and not CORPUS.exists():
                CORPUS.mkdir(parents=True)
                traces = [sys.executable, "-W", "ignore", str(FOLDER / "crossings_corpus.py")]
                subprocess.run([*traces, str(CORPUS)], check=False)
            part = measured(name, PARTS[name], quick=given.quick)
            put(part, name, run)
            if given.again:
                when = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
                run.facts[f"{name} again"] = f"{when}, commit {commit()}"
            else:
                run.facts["took"] = f"{(time.monotonic() - begin) / 60:.0f} minutes"
            # Written after each part, so that a run that is ended early is not lost.
            write_run(run, target / "figures.json")
            (target / "FIGURES.md").write_text(page(run))
    plot = [tools_python(), str(FOLDER / "figures_plot.py"), str(target / "figures.json")]
    subprocess.run([*plot, str(target)], check=False)
    print(target / "FIGURES.md")


if __name__ == "__main__":
    main()
