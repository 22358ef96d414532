/** Statistics of a gradient, or of a tensor's values, as facts. */

import { element } from "../../../dom/element.ts";
import { floats } from "../../../trace/columns.ts";
import type { Trace } from "../../../trace/trace.ts";
import { t } from "../../../words/page.ts";
import { formatCount, formatShare, formatValue } from "../../../words/quantities.ts";
import type { Fact } from "../../facts/facts.ts";

export interface Statistics {
  count(column: "elements" | "zeros" | "nans" | "infs"): number;
  /** A statistic as text. */
  value(column: "mean" | "norm"): string;
  /** From the smallest to the largest, as text. */
  readonly range: string;
  readonly hasFinite: boolean;
}

export function statistics(
  trace: Trace,
  table: "grad_stats" | "value_stats",
  row: number,
): Statistics {
  const count: Statistics["count"] = (column) => trace.at(table, column, row);
  const value = (column: "smallest" | "largest" | "mean" | "norm"): string =>
    formatValue(floats(Int32Array.of(trace.at(table, column, row)))[0]!);
  return {
    count,
    value,
    range: `${value("smallest")} … ${value("largest")}`,
    hasFinite: count("elements") > count("nans") + count("infs"),
  };
}

/** How many values are zero, NaN and Inf. */
export function countFacts({ count }: Statistics): Fact[] {
  const warned = (column: "nans" | "infs"): HTMLElement | string =>
    count(column)
      ? element("strong", { class: "pdl-warn-text" }, `✕ ${shareText(count, column)}`)
      : "0";
  return [
    [t("gradient.zeros"), shareText(count, "zeros")],
    ["NaN", warned("nans")],
    ["Inf", warned("infs")],
  ];
}

/** "12 · 19 %". */
export function shareText(
  count: Statistics["count"],
  column: Parameters<Statistics["count"]>[0],
): string {
  const share = formatShare(count(column), count("elements"));
  return count(column) ? `${formatCount(count(column))}${share && ` · ${share}`}` : "0";
}
