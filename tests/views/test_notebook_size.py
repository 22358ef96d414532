"""What a notebook stores: outputs, and the widgets' state if it is saved, too.

JupyterLab removes the view's script from that state, because the plugin has it: see
``tests/browser/test_widget_state.py``.
"""

from __future__ import annotations

import json
import threading

import paddle

import paddle_lab

_LARGEST_BYTES = 120_000


def test_a_trace_of_1000_ops_takes_less_than_120_kb_of_a_notebook() -> None:
    layer = paddle.nn.TransformerEncoderLayer(32, 4, 64)
    net = paddle.nn.TransformerEncoder(layer, 10)
    optimizer = paddle.optimizer.AdamW(parameters=net.parameters())

    traces = []

    def train() -> None:
        with paddle_lab.trace() as trace:
            net(paddle.randn([2, 8, 32])).mean().backward()
            optimizer.step()
        traces.append(trace)

    # A thread of its own has no frames of pytest: their sources would take 10 kB.
    thread = threading.Thread(target=train, daemon=True)
    thread.start()
    thread.join(timeout=60)
    (trace,) = traces
    assert len(trace.ops) > 1000

    widget = trace.widget()
    outputs, _ = widget._repr_mimebundle_()
    state = widget.get_state()
    buffers = state["_data"].pop("payload"), *state["_stored"].values()
    texts = {
        name: value for name, value in state.items() if name[:1] == "_" and name != "_view_script"
    }
    # As ipywidgets saves it: buffers as base64.
    saved = json.dumps(texts, default=str)
    stored = len(json.dumps(outputs)) + len(saved) + sum(len(b) * 4 / 3 for b in buffers)
    assert stored < _LARGEST_BYTES
