/** The ops with the longest host time; each links to its box. */

import { element } from "../../dom/element.ts";
import { standInsOf } from "../../model/graph/stand_ins.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { formatDuration, formatShare } from "../../words/quantities.ts";
import type { PanelContext } from "../facts/context.ts";
import { opLink, section, small } from "../facts/facts.ts";
import { frameLabel } from "../names/stack_order.ts";

const MOST = 10;

export function slowestSection(context: PanelContext): HTMLElement[] {
  const { trace, totals } = context;
  const ops = slowestOps(trace, MOST);
  if (ops.length === 0) return [];
  const rows = ops.map((op) => {
    const duration_ns = trace.at("ops", "duration_ns", op);
    const frame = trace.ownFrameOf(op);
    const layer = trace.layerOf(op);
    const line = frame >= 0 ? frameLabel(trace, frame) : "";
    return element(
      "tr",
      {},
      element(
        "td",
        {},
        opLink(context, op),
        " ",
        small(layer && line ? `${layer} · ` : layer),
        element("small", { class: "pdl-place" }, line),
      ),
      element("td", {}, formatDuration(duration_ns)),
      element("td", {}, formatShare(duration_ns, totals.duration_ns)),
    );
  });
  const note = standInsOf(trace).ops ? t("slowest.of_copy") : t("op.host_time");
  const table = element("table", { class: "pdl-slowest" }, element("tbody", {}, ...rows));
  const shown = section(t("slowest.title"), note, table);
  shown.dataset.part = "slowest";
  return [shown];
}

/**
 * The slowest ops, slowest first. Of two equal ops the earlier is first. Ops that represent several
 * ops are left out.
 */
export function slowestOps(trace: Trace, most: number): number[] {
  const duration_ns = trace.table("ops").column("duration_ns");
  const weights = standInsOf(trace).ops;
  const found: number[] = [];
  for (let op = 0; op < trace.opCount; op++) {
    if ((weights && weights[op]! > 1) || duration_ns[op]! <= 0) continue;
    if (found.length === most && duration_ns[found[most - 1]!]! >= duration_ns[op]!) continue;
    const at = found.findIndex((other) => duration_ns[other]! < duration_ns[op]!);
    found.splice(at < 0 ? found.length : at, 0, op);
    found.length = Math.min(found.length, most);
  }
  return found;
}
