"""What the page shows of a value, against NumPy."""

from __future__ import annotations

import json

import numpy as np

from paddle_lab.views.value_summary import value_summary


def test_a_summary_is_what_numpy_says():
    array = np.random.default_rng(0).normal(size=(2, 3, 40, 5)).astype(np.float32)
    array[1, 2, 0, :3] = np.nan, np.inf, 0
    told = json.loads(json.dumps(value_summary(array, "checked", 5), allow_nan=False))
    finite = array[np.isfinite(array)].astype(float)
    assert told["statistics"] == [finite.min(), finite.max(), finite.mean(), finite.std()]
    assert (told["nans"], told["infs"], told["zeros"], told["elements"]) == (1, 1, 1, 1200)
    assert (told["slices"], told["slice"], told["index"]) == (6, 5, [1, 2])
    assert told["plane"] == [40, 5]
    assert len(told["rows"]) == 32
    assert told["rows"][0][:3] == ["NaN", "Inf", 0]
    assert told["rows"][7] == array[1, 2, 7].tolist()
    for exponent, negative, positive in told["bins"]:
        low, high = 2.0**exponent, 2.0 ** (exponent + 1)
        assert positive == ((finite >= low) & (finite < high)).sum()
        assert negative == ((finite <= -low) & (finite > -high)).sum()
    assert sum(negative + positive for _, negative, positive in told["bins"]) == 1197


def test_small_and_strange_values():
    for array in (
        np.float32(3.5).reshape(()),
        np.zeros((0, 4)),
        np.zeros((0, 2, 2)),
        np.arange(5),
        np.array([True, False]),
        np.array([[1 + 2j]], np.complex64),
        np.full((2, 2), np.nan),
    ):
        told = json.loads(json.dumps(value_summary(array, "", 9), allow_nan=False))
        assert told["shape"] == list(array.shape)
        assert sum(len(row) for row in told["rows"]) == array.size
    assert value_summary(np.full((2, 2), np.nan), "")["statistics"] is None
