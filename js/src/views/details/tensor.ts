/** The panel's page of a tensor: the op that made it, the ops that read it, other versions. */

import { button, element } from "../../dom/element.ts";
import { t } from "../../words/page.ts";
import { formatBytes } from "../../words/quantities.ts";
import { jumpToGradNode } from "../actions/jump.ts";
import type { PanelContext } from "../facts/context.ts";
import {
  facts,
  heading,
  list,
  MOST_ITEMS,
  opItem,
  opLink,
  section,
  small,
  tensorLink,
} from "../facts/facts.ts";
import { renderStack } from "../source/stack.ts";
import { memoryFact } from "./memory.ts";
import { edgeNorm, gradientLink, gradientName } from "./numbers/gradient.ts";
import { valueSection } from "./numbers/values.ts";

export function tensorDetails(context: PanelContext, tensor: number): HTMLElement[] {
  const { store, trace } = context;
  const cell = (column: "name" | "dtype" | "shape" | "place" | "path") =>
    trace.textAt("tensors", column, tensor);
  const producer = trace.at("tensors", "producer", tensor);
  const detached = trace.at("tensors", "detached_from", tensor);
  const consumers = new Set(
    [...trace.consumersOf(tensor)].map((use) => trace.at("uses", "op", use)),
  );
  const leaf = trace.table("grad_nodes").column("parameter").indexOf(tensor);
  return [
    heading(trace.tensorLabel(tensor) || t("block.tensor"), cell("path") && cell("name")),
    element(
      "div",
      { class: "pdl-chips" },
      element("span", { class: "pdl-chip" }, t(`tensor_kind.${trace.tensorKind(tensor)}`)),
      trace.at("tensors", "stop_gradient", tensor) === 1 &&
        element("span", { class: "pdl-chip" }, "stop_gradient"),
      leaf >= 0 &&
        button(t("tensor.accumulation"), () => jumpToGradNode(store, leaf), {
          class: "pdl-chip pdl-backward",
        }),
    ),
    facts([
      !!cell("path") && [t("tensor.path"), element("code", {}, cell("path"))],
      [t("gradient.type"), `${cell("dtype")} ${cell("shape")}`],
      [t("tensor.size"), formatBytes(trace.at("tensors", "bytes", tensor))],
      !!cell("place") && [t("tensor.place"), cell("place").replace(/^Place\((.*)\)$/, "$1")],
      memoryFact(store),
      producer >= 0 && [t("block.made_by"), opLink(context, producer)],
      detached >= 0 && [t("tensor.detached_from"), tensorLink(context, detached)],
    ]),
    ...valueSection(context, tensor),
    ...gradientOf(context, leaf),
    versions(context, tensor),
    section(
      t("tensor.read_by"),
      t("count.op", { n: consumers.size }),
      list(
        [...consumers].slice(0, MOST_ITEMS).map((op) => opItem(context, op)),
        consumers.size,
      ),
    ),
    ...(producer >= 0 ? [renderStack(context, trace.stackOf(producer), t("tensor.made_at"))] : []),
  ];
}

/** The gradients that were accumulated into a leaf. */
function gradientOf(context: PanelContext, leaf: number): HTMLElement[] {
  const { trace, store } = context;
  if (leaf < 0 || !store.gradients.isRecorded) return [];
  const items = [...trace.gradEdgesInto(leaf)].map((edge) =>
    element(
      "span",
      {},
      gradientLink(context, edge, gradientName(trace, edge)),
      small([" ", edgeNorm(store, edge)].join(" ")),
    ),
  );
  return items.length
    ? [section(t("tensor.gradients"), "", list(items.slice(0, MOST_ITEMS), items.length))]
    : [];
}

/** The tensor's versions before and after in-place modifications; empty if there are none. */
function versions(context: PanelContext, tensor: number): HTMLElement {
  const { trace, totals } = context;
  let first = tensor;
  // Each version has at most one predecessor, which was recorded earlier. The set prevents an
  // endless loop if the file was altered.
  const seen = new Set<number>();
  for (let at = tensor; at >= 0 && !seen.has(at); at = trace.at("tensors", "previous", at)) {
    seen.add(at);
    first = at;
  }
  const chain: number[] = [];
  for (let at = first; at >= 0 && chain.length <= MOST_ITEMS; at = totals.nextVersion[at]!) {
    chain.push(at);
  }
  if (chain.length < 2) return element("section", { hidden: true });
  const rows = chain.map((at) => {
    const modifier = trace.at("tensors", "producer", at);
    const row = element(
      "span",
      {},
      `${t("tensor.version", { n: trace.at("tensors", "version", at) })} `,
    );
    if (modifier >= 0) row.append(opItem(context, modifier));
    if (at === tensor) row.append(element("strong", {}, ` · ${t("tensor.this")}`));
    return row;
  });
  return section(t("tensor.versions"), "", list(rows));
}
