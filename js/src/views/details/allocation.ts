/** The panel's page of a block of memory. */

import { button, element } from "../../dom/element.ts";
import { kindLabel } from "../../memory/blocks/kinds.ts";
import { labelOf } from "../../memory/grouping/by_op.ts";
import { ownerOf } from "../../model/state/owner.ts";
import { HOLDER_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { formatBytes, formatDuration } from "../../words/quantities.ts";
import { switchMode } from "../actions/jump.ts";
import type { PanelContext } from "../facts/context.ts";
import {
  facts,
  gradNodeChip,
  groupChips,
  heading,
  list,
  opLink,
  section,
  small,
  tensorLink,
} from "../facts/facts.ts";
import { renderStack } from "../source/stack.ts";

export function allocationDetails(context: PanelContext, allocation: number): HTMLElement[] {
  const { store, trace } = context;
  const at = (column: Parameters<typeof trace.at<"allocations">>[1]): number =>
    trace.at("allocations", column, allocation);
  const [op, gradNode, tensor] = [at("op"), at("grad_node"), at("tensor")];
  const owner = ownerOf(trace, allocation);
  const inGraph = button(
    t("block.show"),
    () => switchMode(store, owner.kind === "grad_node" ? "ladder" : "forward"),
    { title: labelOf(trace, owner) },
  );
  return [
    heading(formatBytes(at("bytes")), kindLabel(at("kind"))),
    element(
      "div",
      { class: "pdl-chips" },
      ...(op >= 0 ? groupChips(context, trace.groupOfOp(op)) : []),
      gradNode >= 0 && gradNodeChip(context, gradNode),
    ),
    facts([
      op >= 0 && [gradNode >= 0 ? t("block.backward_of") : t("block.made_by"), opLink(context, op)],
      tensor >= 0 && [t("block.tensor"), tensorLink(context, tensor)],
      [t("block.alive"), lifetime(trace, allocation)],
      [
        t("block.address"),
        element("code", {}, `0x${at("address").toString(16)}`),
        small(` ${place()}`),
      ],
    ]),
    ...(owner.kind === "none" ? [] : [element("div", { class: "pdl-actions" }, inGraph)]),
    ...holders(trace, allocation),
    renderStack(
      context,
      trace.framesOfStack(at("stack") >= 0 ? at("stack") : stackOfOp(trace, op)),
    ),
  ];

  function place(): string {
    return t("block.on", { place: trace.textAt("allocations", "place", allocation) });
  }
}

/** "saved activation · 1.2 MiB · matmul #12". */
export function blockLine(trace: Trace, allocation: number): string {
  const owner = ownerOf(trace, allocation);
  return [
    kindLabel(trace.at("allocations", "kind", allocation)),
    formatBytes(trace.at("allocations", "bytes", allocation)),
    owner.kind === "none" ? "" : labelOf(trace, owner),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** "12 ms → 18 ms, for 6 ms". */
export function lifetime(trace: Trace, allocation: number): string {
  const start_ns = trace.at("allocations", "start_ns", allocation);
  const end_ns = trace.at("allocations", "end_ns", allocation);
  const from = start_ns < 0 ? t("block.before") : formatDuration(start_ns);
  if (end_ns < 0) {
    return t("block.still_alive", { from });
  }
  const to = formatDuration(end_ns);
  if (start_ns < 0) return `${from} → ${to}`;
  return t("block.lifetime", { from, to, span: formatDuration(end_ns - start_ns) });
}

function holders(trace: Trace, allocation: number): HTMLElement[] {
  const rows: number[] = [];
  trace
    .table("holders")
    .column("allocation")
    .forEach((held, row) => {
      if (held === allocation) rows.push(row);
    });
  if (rows.length === 0) return [];
  const items = rows.map((row) =>
    element(
      "span",
      {},
      element("code", {}, trace.textAt("holders", "name", row)),
      small(` ${holderLabel(trace.at("holders", "kind", row))}`),
    ),
  );
  return [section(t("block.held_by"), "", list(items))];
}

/** The kind of a holder; "" if the holder's name already shows it, as "losses[3]" does. */
export function holderLabel(kind: number): string {
  const name = HOLDER_KINDS[kind]!;
  return name === "container" ? "" : t(`holder_kind.${name}`);
}

function stackOfOp(trace: Trace, op: number): number {
  return op >= 0 ? trace.at("ops", "stack", op) : -1;
}
