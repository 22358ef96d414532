"""Writes an exported graph as an ONNX file for Netron, in the environment of the other tools.

``python onnx_file.py GRAPH.json MODEL.onnx``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from onnx import TensorProto, helper, save


def main() -> None:
    graph = json.loads(Path(sys.argv[1]).read_text())
    inputs: list[list[str]] = [[] for _ in graph["labels"]]
    is_used = [False] * len(inputs)
    for source, target in graph["edges"]:
        inputs[target].append(f"t{source}")
        is_used[source] = True
    nodes = [
        helper.make_node(label, inputs[node] or ["x"], [f"t{node}"], name=f"{group}/{node}")
        for node, (label, group) in enumerate(zip(graph["labels"], graph["groups"], strict=True))
    ]
    declared = {"elem_type": TensorProto.FLOAT, "shape": [32, 64]}
    results = [
        helper.make_tensor_value_info(f"t{node}", **declared)
        for node, used in enumerate(is_used)
        if not used
    ]
    body = helper.make_graph(
        nodes, "tape", [helper.make_tensor_value_info("x", **declared)], results
    )
    save(helper.make_model(body), sys.argv[2])


if __name__ == "__main__":
    main()
