"""``paddle_lab.deterministic()`` changes seven settings and restores each of them."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys

import numpy as np
import paddle
import pytest

import paddle_lab

_VARIABLES = ("NVIDIA_TF32_OVERRIDE", "NCCL_ALGO", "FLAGS_embedding_deterministic",
              "FLAGS_cudnn_deterministic")  # fmt: skip


class _Rows(paddle.io.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.float32([index])


def _drawn():
    return float(paddle.rand([1])), float(np.random.rand()), random.random()


def test_two_blocks_draw_the_same():
    with paddle_lab.deterministic(seed=5):
        first = _drawn()
    with paddle_lab.deterministic(seed=5):
        assert _drawn() == first
    with paddle_lab.deterministic(seed=6):
        assert _drawn() != first


def test_the_generators_go_on_where_they_stood():
    paddle.seed(1)
    np.random.seed(1)
    random.seed(1)
    plain = [_drawn(), _drawn()]
    paddle.seed(1)
    np.random.seed(1)
    random.seed(1)
    with_block = [_drawn()]
    with paddle_lab.deterministic():
        _drawn()
    with_block.append(_drawn())
    assert with_block == plain


@pytest.mark.parametrize("raises", [False, True])
def test_every_setting_is_restored(monkeypatch, raises):
    monkeypatch.setenv("NCCL_ALGO", "Ring")
    monkeypatch.delenv("NVIDIA_TF32_OVERRIDE", raising=False)
    before = {name: os.environ.get(name) for name in _VARIABLES}
    make = paddle.io.DataLoader.__init__
    with contextlib.suppress(KeyError), paddle_lab.deterministic():
        assert [os.environ[name] for name in _VARIABLES] == ["0", "Tree", "1", "1"]
        if raises:
            os.environ["PADDLE_LAB_HAS_NO_SUCH_VARIABLE"]
    assert {name: os.environ.get(name) for name in _VARIABLES} == before
    assert paddle.io.DataLoader.__init__ is make


def test_a_loader_made_inside_has_no_workers_and_no_shuffling():
    with paddle_lab.deterministic():
        loader = paddle.io.DataLoader(
            _Rows(), batch_size=4, shuffle=True, num_workers=2, persistent_workers=True
        )
    assert loader.num_workers == 0
    rows = [value for batch in loader for value in batch.numpy().ravel().tolist()]
    assert rows == list(range(8))
    outside = paddle.io.DataLoader(_Rows(), batch_size=4, num_workers=2)
    assert outside.num_workers == 2


def test_it_says_what_needs_a_restart():
    with paddle_lab.deterministic(seed=3) as settings:
        told = {setting.name: setting for setting in settings}
    assert len(settings) == 7
    for name in ("NVIDIA_TF32_OVERRIDE", "NCCL_ALGO"):
        assert "restart" in str(told[name])
    assert "inside the block" in str(told["DataLoader shuffle"])


def test_processes_begun_inside_have_the_settings():
    code = "import os; print(os.environ['NCCL_ALGO'], os.environ['FLAGS_cudnn_deterministic'])"
    with paddle_lab.deterministic():
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
    assert done.stdout.split() == ["Tree", "1"]


def test_a_wrong_option_is_answered():
    with pytest.raises(TypeError, match="did you mean 'seed'"):
        paddle_lab.deterministic(sed=1)
