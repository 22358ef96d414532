"""Intended infinities, and unused memory and results, raise no alarm."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.nn import functional as F

from tests.bugs.nan_findings import findings_of


def scores():
    hidden = nn.Linear(6, 6)(paddle.randn([2, 5, 6]))
    return hidden, paddle.bmm(hidden, hidden.transpose([0, 2, 1]))


def added_causal_mask():
    hidden, raw = scores()
    mask = paddle.triu(paddle.full([5, 5], float("-inf")), 1)
    paddle.bmm(F.softmax(raw + mask), hidden).mean().backward()


def filled_mask():
    hidden, raw = scores()
    raw = raw.masked_fill(paddle.tril(paddle.ones([5, 5])) == 0, float("-inf"))
    paddle.bmm(F.softmax(raw), hidden).mean().backward()


def mask_from_numpy():
    hidden, raw = scores()
    mask = paddle.to_tensor(np.triu(np.full([5, 5], -np.inf, "float32"), 1))
    paddle.bmm(F.softmax(raw + mask), hidden).mean().backward()


def mask_in_a_buffer():
    class Masked(nn.Layer):
        def __init__(self):
            super().__init__()
            self.project = nn.Linear(4, 4)
            self.register_buffer("mask", paddle.triu(paddle.full([4, 4], float("-inf")), 1))

        def forward(self, x):
            return F.softmax(self.project(x) + self.mask)

    Masked()(paddle.randn([4, 4])).square().mean().backward()


def logarithm_of_a_mask():
    _, raw = scores()
    allowed = paddle.to_tensor([1.0, 1.0, 0.0, 1.0, 0.0])
    F.softmax(raw + paddle.log(allowed)).square().sum().backward()


def least_of_all_so_far():
    best = paddle.full([], float("inf"))
    for _ in range(3):
        loss = nn.Linear(4, 1)(paddle.randn([5, 4])).square().mean()
        loss.backward()
        best = paddle.minimum(best, loss.detach())


def logits_cut_to_the_top():
    with paddle.no_grad():
        logits = nn.Linear(8, 20)(paddle.randn([1, 8]))
        least = paddle.topk(logits, 5)[0][:, -1:]
        logits[logits < least] = float("-inf")


def forward_algorithm():
    alpha = paddle.full([3], float("-inf"))
    alpha[0] = 0.0
    for emission in nn.Linear(3, 3)(paddle.randn([5, 3])):
        alpha = paddle.logsumexp(alpha.unsqueeze(1) + emission.unsqueeze(0), axis=0)
    paddle.logsumexp(alpha, 0).backward()


def class_masked_in_cross_entropy():
    logits = nn.Linear(3, 6)(paddle.randn([4, 3]))
    logits = paddle.where(paddle.arange(6) > 3, paddle.full([], float("-inf")), logits)
    F.cross_entropy(logits, paddle.to_tensor([0, 1, 2, 3])).backward()


def ignored_labels():
    logits = nn.Linear(8, 5)(paddle.randn([4, 8]))
    F.cross_entropy(logits, paddle.to_tensor([1, -100, 2, -100]), ignore_index=-100).backward()


def memory_written_to_later():
    held = paddle.empty([1000, 10])
    held[:] = 1.0
    (held + paddle.zeros_like(held)).sum()


def places_kept_free():
    history = paddle.full([5], float("nan"))
    history[0] = 1.0
    return paddle.nanmean(history)


def data_that_is_mended():
    data = paddle.to_tensor([1.0, float("nan"), 3.0])
    data = paddle.where(paddle.isnan(data), paddle.zeros_like(data), data)
    nn.Linear(3, 1)(data).sum().backward()


def guarded_loss():
    loss = nn.Linear(3, 3)(paddle.randn([4, 3])).mean()
    if bool(paddle.isfinite(loss)):
        loss.backward()


def recurrent_evaluation():
    layer = nn.LSTM(4, 5, num_layers=2, direction="bidirect")
    layer.eval()
    layer(paddle.randn([2, 6, 4]))


HEALTHY = [
    added_causal_mask, filled_mask, mask_from_numpy, mask_in_a_buffer, logarithm_of_a_mask,
    least_of_all_so_far, logits_cut_to_the_top, forward_algorithm, class_masked_in_cross_entropy,
    ignored_labels, memory_written_to_later, places_kept_free, data_that_is_mended, guarded_loss,
    recurrent_evaluation,
]  # fmt: skip


@pytest.mark.parametrize("work", HEALTHY, ids=lambda work: work.__name__)
def test_healthy_code_is_no_alarm(work):
    assert findings_of(work) == []
