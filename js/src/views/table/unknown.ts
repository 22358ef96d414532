/** Sentences about ops and grad nodes with unknown FLOPs: how many, and their names. */

import { runsOfNodes } from "../../model/table/amounts.ts";
import type { TableData } from "../../model/table/table_data.ts";
import { spanOfOps } from "../../model/time/spans.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";

const MOST_NAMED = 8;

/** Rows of spans count the grad nodes of backward calls; a search finds no backward call. */
export function unknownNames(trace: Trace, { rows, mask }: TableData): string[] {
  const isOfNodes = rows.kind === "node";
  const spanOf = spanOfOps(trace);
  return [
    isOfNodes ? "" : sentence(trace, "op", (key) => !mask || mask[spanOf[key]!] === 1),
    isOfNodes || !mask ? sentence(trace, "node", (node) => !mask || mask[node] === 1) : "",
  ].filter(Boolean);
}

function sentence(trace: Trace, of: "op" | "node", isCounted: (key: number) => boolean): string {
  const flops = trace.table(of === "op" ? "op_costs" : "grad_node_costs").column("flops");
  const code = trace.table(of === "op" ? "ops" : "grad_nodes").column("name");
  const counts = new Map<number, number>();
  const runs = of === "op" ? undefined : runsOfNodes(trace);
  let n = 0;
  // Leave out ops and grad nodes of compiled programs, because the trace recorded each program as
  // one op.
  const count = of === "op" ? trace.recordedOpCount : trace.recordedGradNodeCount;
  for (let key = 0; key < Math.min(flops.length, count); key++) {
    if (flops[key]! >= 0 || !isCounted(key)) continue;
    const times = runs?.[key] ?? 1;
    n += times;
    if (times) counts.set(code[key]!, (counts.get(code[key]!) ?? 0) + times);
  }
  if (!n) return "";
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const names = sorted.slice(0, MOST_NAMED).map(([name, count]) => `${trace.text(name)} ×${count}`);
  const rest = sorted.length - names.length;
  if (rest > 0) names.push(t("table.more_names", { n: rest }));
  return t(`table.unknown_flops_${of}`, { n, names: names.join(", ") });
}
