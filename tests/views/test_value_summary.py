"""What the page shows of a value, against NumPy."""

from __future__ import annotations

import json

import numpy as np
import pytest

from paddle_lab.value_answers import value_statistics
from paddle_lab.views.value_summary import value_slice


def told_of(array, position=()):
    told = value_statistics(array)
    ends = told["statistics"] if told["nans"] + told["infs"] == 0 else None
    found, (heat, image) = value_slice(array, position, ends and ends[:2])
    told = json.loads(json.dumps(told | found, allow_nan=False))
    return told, np.frombuffer(heat).reshape(told["pixels"]), np.frombuffer(image)


def test_a_summary_is_what_numpy_says():
    array = np.random.default_rng(0).normal(3, 2, size=(2, 3, 40, 5)).astype(np.float32)
    array[1, 2, 0, :3] = np.nan, np.inf, 0
    told, heat, _ = told_of(array, [1, 2, 9, 0])
    finite = array[np.isfinite(array)].astype(float)
    assert told["statistics"][:2] == [finite.min(), finite.max()]
    assert told["statistics"][2:] == pytest.approx([finite.mean(), finite.std()], rel=1e-12)
    assert (told["nans"], told["infs"], told["zeros"], told["elements"]) == (1, 1, 1, 1200)
    assert told["position"] == [1, 2, 8, 0]  # 32 rows are shown
    assert told["cells"] == array[1, 2, 8:].tolist()
    assert np.array_equal(heat, array[1, 2], equal_nan=True)
    for exponent, negative, positive in told["bins"]:
        low, high = 2.0**exponent, 2.0 ** (exponent + 1)
        assert positive == ((finite >= low) & (finite < high)).sum()
        assert negative == ((finite <= -low) & (finite > -high)).sum()
    assert sum(negative + positive for _, negative, positive in told["bins"]) == 1197
    assert told_of(array, [1, 2])[0]["cells"][0][:3] == ["NaN", "Inf", 0]


def test_a_large_slice_is_reduced_to_means():
    array = np.random.default_rng(0).normal(size=(1000, 700)).astype(np.float32)
    array[999, 699] = np.nan
    told, heat, _ = told_of(array)
    rows, columns = told["steps"]
    assert heat.size <= 160 * 160
    assert heat[3, 4] == pytest.approx(
        array[3 * rows : 4 * rows, 4 * columns : 5 * columns].mean(), rel=1e-5
    )
    assert np.isnan(heat[-1, -1])
    assert np.isnan(heat).sum() == 1


def test_what_looks_like_an_image():
    rng = np.random.default_rng(0)
    photos = rng.normal(size=(2, 3, 20, 300)).astype(np.float32)
    told, _, channels = told_of(photos, [1])
    assert (told["image"]["axis"], told["image"]["channels"]) == (1, 3)
    assert told["image"]["ends"] == [photos.min(), photos.max()]
    assert np.array_equal(channels.reshape(3, 20, 300), photos[1])
    image = rng.integers(0, 256, (20, 16, 4), np.uint8)
    told, _, channels = told_of(image)
    assert (told["image"]["axis"], told["image"]["ends"]) == (2, [0, 255])
    assert np.array_equal(channels.reshape(4, 20, 16), image.transpose(2, 0, 1))
    for other in (
        photos[:, :, :10],  # low
        np.full((2, 3, 20, 20), np.nan),
        np.ones((2, 3, 20, 20), bool),
        rng.normal(size=(2, 4, 20, 20)),  # the fourth channel is no opacity
        rng.normal(size=(3, 20, 20)),  # perhaps a batch of three
        rng.integers(0, 9, (2, 3, 20, 20)),
        rng.normal(size=(20, 20)),
    ):
        assert told_of(other)[0]["image"] is None


def test_small_and_strange_values():
    for array in (
        np.float32(3.5).reshape(()),
        np.zeros((0, 4)),
        np.zeros((0, 2, 2)),
        np.arange(5),
        np.array([True, False]),
        np.array([[1 + 2j]], np.complex64),
        np.full((2, 2), np.nan),
        np.array([2**60 + 1]),
    ):
        told, heat, _ = told_of(array, [9])
        assert told["shape"] == list(array.shape)
        assert sum(len(row) for row in told["cells"]) == array.size == heat.size
    assert told["cells"] == [[str(2**60 + 1)]]
    assert told_of(np.full((2, 2), np.nan))[0]["statistics"] is None
