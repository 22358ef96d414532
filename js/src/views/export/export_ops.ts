/** The ops as a table, with the column names of `trace.ops.to_pandas()`. */

import type { Cell } from "../../dom/table_text.ts";
import { standInsOf } from "../../model/graph/stand_ins.ts";
import type { Trace } from "../../trace/trace.ts";
import { tensorsOf } from "../names/tensors.ts";

const NAMES = [
  "op",
  "name",
  "layer",
  "phase",
  "file",
  "line",
  "function",
  "cell",
  "inputs",
  "outputs",
  "attributes",
  "start_ns",
  "duration_ns",
  "thread",
  "is_pylayer",
  "raised",
];

/** Names, then one row per op. `stands_for`: how many ops a row of a reduced copy replaces. */
export function opTable(trace: Trace, ops: readonly number[]): Cell[][] {
  const weights = standInsOf(trace).ops;
  const names = weights ? [...NAMES, "stands_for"] : NAMES;
  return [
    names,
    ...ops.map((op) => (weights ? [...row(trace, op), weights[op]!] : row(trace, op))),
  ];
}

function row(trace: Trace, op: number): Cell[] {
  const frame = trace.ownFrameOf(op);
  const cell = frame < 0 ? -1 : trace.at("frames", "cell", frame);
  return [
    op,
    trace.opLabel(op),
    trace.layerOf(op),
    trace.phaseOf(op),
    frame < 0 ? "" : trace.textAt("frames", "file", frame),
    frame < 0 ? "" : trace.at("frames", "line", frame),
    frame < 0 ? "" : trace.textAt("frames", "function", frame),
    cell < 0 ? "" : cell,
    tensors(trace, trace.inputsOf(op)),
    tensors(trace, trace.outputsOf(op)),
    trace.textAt("ops", "attributes", op),
    trace.at("ops", "start_ns", op),
    trace.at("ops", "duration_ns", op),
    trace.at("ops", "thread", op),
    truth(trace.at("ops", "is_pylayer", op)),
    truth(trace.at("ops", "raised", op)),
  ];
}

/** "float32 [4, 16]; int64 [4]". */
function tensors(trace: Trace, uses: Int32Array): string {
  return tensorsOf(trace, uses)
    .map((tensor) =>
      (["dtype", "shape"] as const)
        .map((column) => trace.textAt("tensors", column, tensor))
        .join(" "),
    )
    .join("; ");
}

function truth(bit: number): string {
  return bit === 1 ? "True" : "False";
}
