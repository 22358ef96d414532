/** The names of rows, and more text beside the names. */

import type { TableRows } from "../../model/table/table_rows.ts";
import { textOfName } from "../../model/table/table_state.ts";
import { allSpans } from "../../model/time/spans.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { lineOfBackwardCall } from "../names/backward_call.ts";
import { fileLabel } from "../names/stack_order.ts";

export interface RowText {
  readonly name: string;
  /** More text that distinguishes the row from other rows, or "". */
  readonly note: string;
}

export function rowText(trace: Trace, rows: TableRows, row: number): RowText {
  const { kind, names } = rows;
  if (row === rows.rest)
    return { name: t(`table.rest_${kind as "layer" | "line" | "turn"}`), note: "" };
  const selection = rows.selection(row);
  switch (kind) {
    case "op":
    case "node":
      return { name: textOfName(trace, names![row]!), note: "" };
    case "each":
      return spanText(trace, row);
    case "layer":
      return {
        name: trace.text(names![row]!),
        note: selection.kind === "group" ? trace.textAt("groups", "class", selection.group) : "",
      };
    case "line":
      return selection.kind === "line" ? lineText(trace, selection) : { name: "", note: "" };
    case "turn":
      return turnText(trace, rows, row);
  }
}

function spanText(trace: Trace, span: number): RowText {
  const spans = allSpans(trace);
  const op = spans.op[span]!;
  if (op >= 0) return { name: `${trace.opLabel(op)} #${op}`, note: trace.layerOf(op) };
  const call = spans.call[span]!;
  return { name: trace.backwardKind(call), note: lineOfBackwardCall(trace, call) };
}

function lineText(trace: Trace, { file, line }: { file: number; line: number }): RowText {
  const source = trace.sourceAround(file, line);
  return {
    name: t("place.file_line", { file: fileLabel(trace, file, source?.cell ?? -1), line }),
    note: source?.lines[line - source.firstLine]?.trim() ?? "",
  };
}

/** "epoch 2 = 0.1" for `for epoch in rates`. The note has the iterations around this one. */
function turnText(trace: Trace, { places }: TableRows, row: number): RowText {
  const around: string[] = [];
  let at = trace.at("turns", "scope", row);
  for (at = places!.parent[at] ?? -1; at >= 0; at = places!.parent[at]!) {
    if (places!.row[at]! >= 0) around.unshift(turnName(trace, places!.row[at]!));
  }
  return { name: turnName(trace, row), note: around.join(" · ") };
}

function turnName(trace: Trace, row: number): string {
  const words = trace.textAt("loops", "words", trace.at("turns", "loop", row));
  // `analysis/graph/hierarchy.py` uses the same names.
  const between = /^[\p{L}\p{N}_, ]+$/u.test(words) && !words.startsWith("while ") ? " " : " · ";
  const value = trace.textAt("turns", "value", row);
  return `${words}${between}${trace.at("turns", "number", row)}${value && ` = ${value}`}`;
}
