/** The ops as lines of text, for an issue or a chat. */
import type { Trace } from "../../trace/trace.ts";
import { formatDuration } from "../../words/quantities.ts";
import { frameLabel } from "../names/stack_order.ts";

/** One line an op: key, name, layer, line, host time, shapes, in columns. */
export function opList(trace: Trace, ops: readonly number[]): string {
  const rows = ops.map((op) => [
    `#${op}`,
    trace.opLabel(op),
    trace.layerOf(op) || "-",
    trace.ownFrameOf(op) >= 0 ? frameLabel(trace, trace.ownFrameOf(op)) : "-",
    formatDuration(trace.at("ops", "duration_ns", op)),
    `${shapes(trace, trace.inputsOf(op))} -> ${shapes(trace, trace.outputsOf(op))}`,
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) =>
    rows.reduce((width, row) => Math.max(width, row[column]!.length), 0),
  );
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .join("\n");
}

function shapes(trace: Trace, uses: Int32Array): string {
  return [...uses]
    .map((use) => trace.at("uses", "tensor", use))
    .filter((tensor) => tensor >= 0)
    .map((tensor) => trace.textAt("tensors", "shape", tensor))
    .join(" ");
}
