/** Parts that several details pages use: links, chips, tables of facts. */

import { button, element } from "../../dom/element.ts";
import type { TraceTotals } from "../../model/graph/trace_totals.ts";
import { t } from "../../words/page.ts";
import { formatBytes, formatDuration, formatShare } from "../../words/quantities.ts";
import { jumpToGradNode, jumpToOp } from "../actions/jump.ts";
import { frameLabel } from "../names/stack_order.ts";
import type { PanelContext } from "./context.ts";

/** Longer lists are shortened. A parameter may have ten thousand readers. */
export const MOST_ITEMS = 100;

export type Fact = readonly [name: string, ...value: (Node | string)[]];

export function facts(rows: readonly (Fact | false | undefined)[]): HTMLElement {
  const list = element("dl", { class: "pdl-facts" });
  for (const row of rows) {
    if (!row) continue;
    const [name, ...value] = row;
    list.append(element("dt", {}, name), element("dd", {}, ...value));
  }
  return list;
}

export function timeFact(totals: TraceTotals, duration_ns: number): Fact {
  const share = formatShare(duration_ns, totals.duration_ns);
  return [
    t("op.host_time"),
    formatDuration(duration_ns),
    share && small(` · ${t("op.share", { share })}`),
  ];
}

export function heading(name: string, key: string): HTMLElement {
  return element("h2", { tabindex: -1 }, name, element("span", {}, ` ${key}`));
}

export function section(title: string, note: string, ...content: HTMLElement[]): HTMLElement {
  return element(
    "section",
    {},
    element("h3", {}, title, !!note && element("span", {}, note)),
    ...content,
  );
}

export function list(items: readonly HTMLElement[], total = items.length): HTMLElement {
  const shown = element(
    "ul",
    { class: "pdl-list" },
    ...items.slice(0, MOST_ITEMS).map((item) => element("li", {}, item)),
  );
  if (total > Math.min(items.length, MOST_ITEMS)) {
    const rest = total - Math.min(items.length, MOST_ITEMS);
    shown.append(element("li", {}, element("small", {}, t("list.more", { n: rest }))));
  }
  return shown;
}

export function small(text: string): HTMLElement {
  return element("small", {}, text);
}

/** "linear #3": a link that shows the op. */
export function opLink({ store, trace }: PanelContext, op: number): HTMLElement {
  return button(`${trace.opLabel(op)} #${op}`, () => jumpToOp(store, op), {
    class: "pdl-link",
    title: trace.layerOf(op) || undefined,
  });
}

/** The op in a list, with its layer; if there is no layer, with its line. */
export function opItem(context: PanelContext, op: number): HTMLElement {
  const { trace } = context;
  const frame = trace.ownFrameOf(op);
  const place = trace.layerOf(op) || (frame >= 0 ? frameLabel(trace, frame) : "");
  return element("span", {}, opLink(context, op), !!place && small(` · ${place}`));
}

export function gradNodeLink({ store, trace }: PanelContext, gradNode: number): HTMLElement {
  const parameter = trace.at("grad_nodes", "parameter", gradNode);
  return element(
    "span",
    {},
    button(trace.textAt("grad_nodes", "name", gradNode), () => jumpToGradNode(store, gradNode), {
      class: "pdl-link",
    }),
    parameter >= 0 && small(` ${tensorName(trace, parameter)}`),
  );
}

/** A link that shows a tensor: the name if there is one, and the properties. */
export function tensorLink({ store, trace }: PanelContext, tensor: number): HTMLElement {
  const name = tensorName(trace, tensor);
  const [type, ...rest] = tensorWords(trace, tensor);
  const link = button(
    name || type!,
    () => store.select({ kind: "tensor", tensor }, { reveal: true }),
    {
      class: name ? "pdl-link pdl-mono" : "pdl-link",
    },
  );
  const words = name ? [` ${type}`, ...rest] : ["", ...rest];
  return element("span", {}, link, small(words.join(" · ")));
}

/** Kinds whose names say what they are: "encoder.0", "epoch 1", "loss_fn(…)". */
const NAMED_BY_PATH: ReadonlySet<string> = new Set(["layer", "turn", "call"]);

/** A chip for a group. A click shows the group. */
export function groupChip(
  { store, trace }: Pick<PanelContext, "store" | "trace">,
  group: number,
): HTMLElement {
  const kind = trace.groupKind(group);
  const path = trace.groupName(group);
  return button(
    NAMED_BY_PATH.has(kind) ? path : t("group_kind.named", { kind: t(`group_kind.${kind}`), path }),
    () => store.select({ kind: "group", group }, { reveal: true }),
    { class: "pdl-chip", title: trace.textAt("groups", "class", group) || undefined },
  );
}

/** Chips of the innermost enclosing layer, and of every enclosing region and PyLayer. */
export function groupChips(context: PanelContext, group: number): HTMLElement[] {
  const path = context.trace.groupPath(group);
  const layer = path.findLast((at) => context.trace.groupKind(at) === "layer");
  const isShown = (at: number) => {
    const kind = context.trace.groupKind(at);
    return at === layer || kind === "region" || kind === "pylayer";
  };
  return path.filter(isShown).map((at) => groupChip(context, at));
}

export function gradNodeChip({ store, trace }: PanelContext, gradNode: number): HTMLElement {
  return button(
    `↔ ${trace.textAt("grad_nodes", "name", gradNode)}`,
    () => jumpToGradNode(store, gradNode),
    { class: "pdl-chip pdl-backward", title: t("op.show_grad_node") },
  );
}

function tensorName(trace: PanelContext["trace"], tensor: number): string {
  return trace.textAt("tensors", "path", tensor) || trace.textAt("tensors", "name", tensor);
}

/** "float32 [4, 2, 3]", "96 B", "gpu:0", "stop_gradient". */
function tensorWords(trace: PanelContext["trace"], tensor: number): string[] {
  const place = trace.textAt("tensors", "place", tensor);
  const words = [
    `${trace.textAt("tensors", "dtype", tensor)} ${trace.textAt("tensors", "shape", tensor)}`.trim(),
    formatBytes(trace.at("tensors", "bytes", tensor)),
    /^$|cpu/i.test(place) ? "" : place.replace(/^Place\((.*)\)$/, "$1"),
    trace.at("tensors", "stop_gradient", tensor) ? "stop_gradient" : "",
  ];
  return words.filter((word, index) => index === 0 || word);
}
