/** The ops as lines of text, for an issue or a chat. */
import type { Trace } from "../../trace/trace.ts";
import { formatDuration } from "../../words/quantities.ts";
import { frameLabel } from "../names/stack_order.ts";
import { shapesOf } from "../names/tensors.ts";

/** One line per op: key, name, layer, line, host time, shapes, in columns. */
export function opList(trace: Trace, ops: readonly number[]): string {
  const rows = ops.map((op) => [
    `#${op}`,
    trace.opLabel(op),
    trace.layerOf(op) || "-",
    trace.ownFrameOf(op) >= 0 ? frameLabel(trace, trace.ownFrameOf(op)) : "-",
    formatDuration(trace.at("ops", "duration_ns", op)),
    [trace.inputsOf(op), trace.outputsOf(op)]
      .map((uses) => shapesOf(trace, uses).join(" "))
      .join(" -> "),
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) =>
    rows.reduce((width, row) => Math.max(width, row[column]!.length), 0),
  );
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .join("\n");
}
