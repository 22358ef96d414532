"""Runs a model eagerly, compiled, exported and in the predictor, and compares the outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.export.inputs import Inputs
from paddle_lab.capture.recorder.faults import described

Arrays = list[np.ndarray[Any, Any]]
Way = Callable[[list[Any]], Any]
"""A function that runs the model on inputs."""
NAMES = EAGER, STATIC, SAVED, LOADED, PLAIN, PREDICTED = (
    "eager", "to_static", "save", "load", "predictor-without-passes", "predictor",
)  # fmt: skip
EVALUATED = "evaluated"
"""The eager stage, in evaluation mode."""
_RELATIVE = {2: 2e-2, 4: 1e-4, 8: 1e-6}
"""The largest relative difference that rounding can explain, by an element's size in bytes."""


class StageRun(NamedTuple):
    """One way to run the model, and how much its outputs differ from the eager outputs."""

    name: str
    has_run: bool
    max_abs: float | None = None
    max_rel: float | None = None
    differs: bool = False
    error: str = ""


class Stages:
    """The ways in which a model can run.

    Parameters
    ----------
    paddle
        The paddle module.
    layer
        The model.
    specification
        Its ``input_spec``.
    inputs
        Makes the inputs of the model.
    path
        Path prefix of the exported model, without an extension.
    again
        Restores the model's state for a block.
    """

    def __init__(
        self,
        paddle: Any,
        layer: Any,
        specification: Sequence[Any],
        inputs: Inputs,
        path: str,
        again: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._paddle = paddle
        self._layer = layer
        self._specification = specification
        specified = [
            paddle.static.InputSpec.from_tensor(one) if isinstance(one, paddle.Tensor) else one
            for one in paddle.utils.flatten(list(specification))
        ]
        self._described = paddle.utils.pack_sequence_as(list(specification), specified)
        self._inputs = inputs
        self._path = path
        self._again = again
        self.is_random = False
        """Whether outputs depend on Paddle's random numbers; then they cannot be compared."""
        self.is_evaluated = False
        """Whether the layer trains, but the exported model computes as in evaluation mode."""
        self.ways: dict[str, Callable[[], Way]] = {
            EAGER: self._eager,
            STATIC: self._static,
            SAVED: self._saved,
            LOADED: self._loaded,
            PLAIN: lambda: self._predictor(with_passes=False),
            PREDICTED: lambda: self._predictor(with_passes=True),
        }

    def run(self, inputs: list[Any], tell: Callable[[StageRun], None]) -> list[StageRun]:
        """Run the stages until one fails. Report each stage after it has run."""
        found: list[StageRun] = []
        expected: Arrays = []
        for name in self.ways:
            stage = StageRun(name, has_run=False)
            if not any(one.error for one in found if one.name not in (STATIC, PLAIN)):
                try:
                    stage = self._stage(name, inputs, expected)
                except Exception as error:  # noqa: BLE001  (a stage that fails is an answer)
                    stage = StageRun(name, has_run=True, error=described(error)[-2000:])
            found.append(stage)
            tell(stage)
        return found

    def _stage(self, name: str, inputs: list[Any], expected: Arrays) -> StageRun:
        outputs = self.outputs(name, inputs)
        if name == EAGER:
            expected += outputs
            self.is_random = compared(name, outputs, self.outputs(name, inputs, seed=1)).differs
        if name == SAVED:
            return StageRun(name, has_run=True)
        stage = compared(name, expected, outputs)
        if stage.differs and self._layer.training and name not in (EAGER, STATIC):
            evaluated = compared(name, self.outputs(EVALUATED, inputs), outputs)
            self.is_evaluated = not evaluated.differs
            stage = stage if evaluated.differs else evaluated
        if self.is_random and not self.is_evaluated:
            stage = stage._replace(max_abs=None, max_rel=None, differs=False)
        return stage

    def outputs(self, name: str, inputs: list[Any], seed: int | None = None) -> Arrays:
        """Run one stage twice from the saved state. Return the output tensors of both calls."""
        found: Arrays = []
        # Eager code may need gradients. A compiled model would get a backward program for them.
        with self._again(), self._paddle.set_grad_enabled(name == EAGER):
            if seed is not None:
                self._paddle.seed(seed)
            if name == EVALUATED:
                self._layer.eval()
            way = self.ways[EAGER if name == EVALUATED else name]()
            for _ in range(2):
                copies = [one.clone() if isinstance(one, self._paddle.Tensor) else one
                          for one in self._paddle.utils.flatten(inputs)]  # fmt: skip
                found += self._arrays(way(self._paddle.utils.pack_sequence_as(inputs, copies)))
        return found

    def _arrays(self, outputs: Any) -> Arrays:
        # Copy the output, because Paddle may reuse its memory in the next run.
        return [
            np.array(one.detach().numpy() if isinstance(one, self._paddle.Tensor) else one)
            for one in self._paddle.utils.flatten(outputs)
            if isinstance(one, (self._paddle.Tensor, np.ndarray))
        ]

    def _eager(self) -> Way:
        self._use(_forward(self._layer))
        return lambda inputs: self._layer(*inputs)

    def _static(self) -> Way:
        self._use(self._paddle.jit.to_static(
            _forward(self._layer), input_spec=self._described, full_graph=True, backend=None
        ))  # fmt: skip
        return lambda inputs: self._layer(*inputs)

    def _use(self, forward: Any) -> None:
        """Replace the layer's ``forward`` by a function. :func:`again` restores the method."""
        vars(self._layer)["forward"] = forward

    def export(self) -> None:
        """Export the model to the temporary place."""
        self._paddle.jit.save(self._layer, self._path, self._specification)

    def _saved(self) -> Way:
        self.export()
        return lambda _: []

    def _loaded(self) -> Way:
        loaded = self._paddle.jit.load(self._path)
        return lambda inputs: loaded(*self._inputs.arrays(inputs))

    def _predictor(self, *, with_passes: bool) -> Way:
        inference = self._paddle.inference
        config = inference.Config(f"{self._path}.json", f"{self._path}.pdiparams")
        config.disable_glog_info()
        config.switch_ir_optim(with_passes)
        if self._paddle.get_device().startswith("gpu"):
            config.enable_use_gpu(100, 0)
        predictor = inference.create_predictor(config)

        def predict(inputs: list[Any]) -> Any:
            arrays = self._inputs.arrays(inputs)
            for name, array in zip(predictor.get_input_names(), arrays, strict=True):
                predictor.get_input_handle(name).copy_from_cpu(np.ascontiguousarray(array))
            predictor.run()
            names = predictor.get_output_names()
            return [predictor.get_output_handle(name).copy_to_cpu() for name in names]

        return predict


def _forward(layer: Any) -> Any:
    return DOOR.undecorated(layer.forward)[1]


def compared(name: str, expected: Arrays, found: Arrays) -> StageRun:
    """Return how far the outputs differ from the expected ones."""
    if len(found) != len(expected):
        return _unlike(name, f"{len(found)} != {len(expected)}")
    largest, relative, differs = 0.0, 0.0, False
    for one, other in zip(expected, found, strict=True):
        if one.shape != other.shape or one.dtype != other.dtype:
            told = f"{other.dtype}{list(other.shape)} != {one.dtype}{list(one.shape)}"
            return _unlike(name, told)
        absolute, scaled = difference(one, other)
        largest, relative = max(largest, absolute), max(relative, scaled)
        differs = differs or not scaled <= _RELATIVE.get(one.dtype.itemsize, 0.0)
    return StageRun(name, has_run=True, max_abs=largest, max_rel=relative, differs=differs)


def _unlike(name: str, told: str) -> StageRun:
    return StageRun(name, has_run=True, differs=True, error=told)


def difference(expected: np.ndarray[Any, Any], found: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the largest difference, and its ratio to the largest value. NaN equals NaN."""
    if expected.size == 0 or np.array_equal(expected, found, equal_nan=expected.dtype.kind in "fc"):
        return 0.0, 0.0
    kind = np.complex128 if expected.dtype.kind == "c" else np.float64
    wide, other = expected.astype(kind), found.astype(kind)
    if not np.array_equal(np.isfinite(wide), np.isfinite(other)):
        return float("inf"), float("inf")
    fits = np.isfinite(wide)
    if not np.any(fits):
        return float("inf"), float("inf")
    largest = float(np.max(np.abs(wide[fits] - other[fits])))
    scale = float(np.max(np.abs(wide[fits])))
    return largest, largest / scale if scale else float("inf") if largest else 0.0
