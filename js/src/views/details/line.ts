/** The panel's page of a source line, with the ops that the line called. */

import { button, element } from "../../dom/element.ts";
import { durationOf } from "../../model/graph/trace_totals.ts";
import { t } from "../../words/page.ts";
import type { PanelContext } from "../facts/context.ts";
import {
  facts,
  groupChip,
  heading,
  list,
  MOST_ITEMS,
  opItem,
  section,
  timeFact,
} from "../facts/facts.ts";
import { litOpKeys, litParts } from "../names/lit_parts.ts";
import { fileLabel } from "../names/stack_order.ts";

export function lineDetails(context: PanelContext, file: number, line: number): HTMLElement[] {
  const { store, trace, totals } = context;
  const lit = store.litOps();
  const ops = litOpKeys(store);
  const groups = litParts(store).filter((part) => "group" in part);
  const source = trace.sourceAround(file, line);
  const text = source?.lines[line - source.firstLine]?.trim();
  const isOnLine = (frame: number) =>
    trace.at("frames", "file", frame) === file && trace.at("frames", "line", frame) === line;
  const isCallInside = (call: number) =>
    trace.framesOfStack(trace.at("backward_calls", "stack", call)).some(isOnLine);
  const duration_ns = durationOf(trace, (op) => lit[op] === 1, isCallInside);
  return [
    heading(t("place.file_line", { file: fileLabel(trace, file, source?.cell ?? -1), line }), ""),
    ...(text ? [element("p", {}, element("code", {}, text))] : []),
    facts([[t("line.made"), t("count.op", { n: ops.length })], timeFact(totals, duration_ns)]),
    element(
      "div",
      { class: "pdl-actions" },
      button(t("line.show"), () => context.showSource(file, line)),
    ),
    ...(groups.length > 0
      ? [
          section(
            t("line.groups"),
            "",
            list(groups.map(({ group }) => element("span", {}, groupChip(context, group)))),
          ),
        ]
      : []),
    section(
      t("line.ops"),
      "",
      list(
        ops.slice(0, MOST_ITEMS).map((op) => opItem(context, op)),
        ops.length,
      ),
    ),
  ];
}
