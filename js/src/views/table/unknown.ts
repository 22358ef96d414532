/** Sentences about ops whose costs are not known: how many, and their names. */

import { amountsOf } from "../../model/table/amounts.ts";
import type { TableData } from "../../model/table/table_data.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";

const MOST_NAMED = 8;

export function unknownNames(trace: Trace, { rows, mask }: TableData): string[] {
  const of = rows.kind === "node" ? "node" : "op";
  const flops = amountsOf(trace, of, "flops");
  if (!flops) return [];
  const code = trace.table(of === "op" ? "ops" : "grad_nodes").column("name");
  const counts = new Map<number, number>();
  let n = 0;
  for (let at = 0; at < flops.length; at++) {
    if (flops[at]! >= 0 || (mask && !mask[at])) continue;
    n++;
    counts.set(code[at]!, (counts.get(code[at]!) ?? 0) + 1);
  }
  if (!n) return [];
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const names = sorted.slice(0, MOST_NAMED).map(([name, count]) => `${trace.text(name)} ×${count}`);
  const rest = sorted.length - names.length;
  if (rest > 0) names.push(t("table.more_names", { n: rest }));
  return [t(`table.unknown_flops_${of}`, { n, names: names.join(", ") })];
}
