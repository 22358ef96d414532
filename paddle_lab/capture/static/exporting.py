"""Writes the file with a model's source lines next to the model when it is saved."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.patches import AttributePatch, applied
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.stacks.source_texts import Cells
from paddle_lab.capture.static.building import left_as_it_was, require_names
from paddle_lab.capture.static.live_program import parameter_paths, read_live
from paddle_lab.programs.lines import write_lines
from paddle_lab.programs.missing_lines import fill_lines
from paddle_lab.programs.pir_json import read_program
from paddle_lab.programs.program import Program
from paddle_lab.words import say


class _Saving(threading.local):
    """The paths of the parameters of the layer that this thread saves with ``paddle.jit.save``."""

    paths: Mapping[str, str] | None = None


_saving = _Saving()


def save_lines(layer: Any, path: Path, cells: Cells | None = None) -> Path:
    """Write the source lines of a saved model, and return the path of the new file.

    Raises
    ------
    ValueError
        If the saved model is not the one that the layer would save.
    """
    paddle = require_paddle()
    require_names()
    model = path if path.suffix == ".json" else path.with_name(f"{path.name}.json")
    saved, _ = read_program(model)
    spec = [
        paddle.static.InputSpec(
            [None if extent < 0 else extent for extent in saved.values[op.outputs[0]].shape or ()],
            saved.values[op.outputs[0]].dtype,
            op.label,
        )
        for op in saved.forward.ops
        if op.name == "pd_op.data"
    ]
    # If there are static methods besides ``forward``, Paddle accepts no specification, and saves
    # each method to a file whose name ends in the method's name.
    methods = _static_methods(layer)
    endings = [f".{name}.json" for name in methods if model.name.endswith(f".{name}.json")]
    name = f"model{endings[0] if endings else '.json'}"
    captured: list[Any] = []

    def capture(_: Any) -> Callable[..., None]:
        def serialize(program: Any, written: str, *_: Any) -> None:
            if Path(written).name == name:
                captured.append(program)
                raise _Captured  # the parameters need not be written again

        return serialize

    patch = DOOR.patch("serialize_program", capture)
    with (
        TemporaryDirectory() as folder,
        left_as_it_was(paddle),
        applied(patch),
        suppress(_Captured),
    ):
        spec = [] if methods else spec
        paddle.jit.save(layer, str(Path(folder) / "model"), input_spec=spec or None)
    live = read_live(captured[0], cells=cells, paths=parameter_paths([layer]), of_model=True)
    return _write(live, saved, model)


def _static_methods(layer: Any) -> list[str]:
    """Return the names of a layer's static methods other than ``forward``."""
    found = (name for name in dir(layer) if name != "forward")
    return [name for name in found if isinstance(getattr(layer, name, None), DOOR.static_function)]


class _Captured(BaseException):
    """Ends ``paddle.jit.save`` after it has built the program."""


def _write(live: Program, saved: Program, model: Path) -> Path:
    names = [[op.name for op in program.forward.walk()] for program in (live, saved)]
    if names[0] != names[1]:
        raise ValueError(say("errors.program.other_layer", path=model))
    fill_lines(live.forward)
    return write_lines(live, model)


def export_patches(recorder: Recorder) -> list[AttributePatch]:
    """Return patches that write source lines next to each model that is saved during a trace."""
    import paddle

    def around_save(save: Any) -> Callable[..., Any]:
        def run(layer: Any, *args: Any, **kwargs: Any) -> Any:
            with _saves(layer):
                return save(layer, *args, **kwargs)

        return run

    def around_serialize(serialize: Any) -> Callable[..., Any]:
        def run(program: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
            result = serialize(program, path, *args, **kwargs)
            if not str(path).endswith(".json"):  # a program alone, saved by ``paddle.save``
                return result
            try:
                model = Path(path)
                live = read_live(program, cells=recorder.cells, paths=_saving.paths, of_model=True)
                _write(live, read_program(model)[0], model)
            except Exception as fault:  # noqa: BLE001  (the model is saved all the same)
                recorder.notices.append(
                    say("notices.lines.not_written", path=path, fault=type(fault).__name__)
                )
            return result

        return run

    return [
        AttributePatch(paddle.jit, "save", around_save),
        DOOR.patch("serialize_program", around_serialize),
    ]


@contextmanager
def _saves(saved: Any) -> Iterator[None]:
    outer, layer = _saving.paths, getattr(saved, "__self__", None)
    _saving.paths = parameter_paths([saved if layer is None else layer])
    try:
        yield
    finally:
        _saving.paths = outer
