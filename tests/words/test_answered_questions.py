"""Questions that are often asked about Paddle, and the finding or error that answers each.

The questions are from Paddle's FAQs on training and on distributed training, and from an article on
failures of Paddle. Questions about installation, servers and compression fit no finding or error.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import paddle_lab
from paddle_lab.error_help.lookup import known_errors

HOUSE = Path(paddle_lab.__file__).parent
FINDINGS = json.loads((HOUSE / "words" / "tables" / "findings.json").read_text(encoding="utf-8"))
ERRORS = {error["id"]: error for error in known_errors()}

BESIDE_FINDINGS = [
    ("paddle.gather and torch.gather", "gather-of-rows", "take_along_axis", "take_along_axis"),
    ("how to clip gradients", "clip-unused", "grad_clip=clip", "grad_clip=clip"),
    ("no convergence: features", "input-scale", "Normalise the data", "归一化"),
    ("no convergence: learning rate", "loss-grows", "smaller learning rate", "减小学习率"),
    ("no convergence: gradients too large", "gradient-scale", "gradient clipping", "梯度裁剪"),
    ("NaN: division by 0, log 0", "nan-origin", "divisions, logarithms", "除法、对数"),
    ("NaN: labels that do not fit", "nan-origin", "labels", "标签"),
    (
        "eval() builds a graph",
        "unused-graph",
        "paddle.no_grad()",
        "paddle.no_grad()",
    ),
    (
        "minimize and step",
        "stepped-twice",
        "`minimize` makes a step",
        "`minimize` 本身",
    ),
    ("range of stop_gradient=True", "gradient-cut", "stop_gradient", "stop_gradient"),
    ("masked_fill, and masks", "mask-added", "-1e9", "-1e9"),
    ("control flow that cannot be traced", "graph-break", "explain_static", "explain_static"),
    ("speed of data loading", "loader-waits", "workers", "子进程"),
    ("is distributed_model needed too", "bypassed", "call the wrapper", "封装后的模型"),
]
BESIDE_ERRORS = [
    ("Tensor not initialized", "tensor-not-initialized", "startup program", "startup program"),
    (
        "no startup",
        "startup-program-not-run",
        "exe.run(startup_program)",
        "exe.run",
    ),
    ("DataLoader worker exited", "dataloader-worker-exit", "num_workers=0", "num_workers=0"),
    ("use_shared_memory", "dataloader-shared-memory", "use_shared_memory=False", "共享内存"),
    ("Nccl error", "nccl", "nccl-tests", "nccl-tests"),
    (
        "a hang of collectives",
        "nccl",
        "PADDLE_TRAINER_ENDPOINTS",
        "PADDLE_TRAINER_ENDPOINTS",
    ),
]


@pytest.mark.parametrize(("question", "kind", "english", "chinese"), BESIDE_FINDINGS)
def test_the_answer_is_beside_the_finding(
    question: str, kind: str, english: str, chinese: str
) -> None:
    advice = FINDINGS[f"{kind}.advice"]
    assert english in advice["en"], question
    assert chinese in advice["zh"], question


@pytest.mark.parametrize(("question", "error", "english", "chinese"), BESIDE_ERRORS)
def test_the_answer_is_beside_the_error(
    question: str, error: str, english: str, chinese: str
) -> None:
    assert english in ERRORS[error]["en"]["advice"], question
    assert chinese in ERRORS[error]["zh"]["advice"], question
