/** A short text about a tensor's values. */
import { traceTotals } from "../../model/graph/trace_totals.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { formatShare } from "../../words/quantities.ts";
import { shareText, statistics } from "../details/numbers/statistics.ts";

export interface ValueText {
  /** "0 … 4.23"; "" if no value is finite. */
  readonly range: string;
  /** "mean 1.46 · 12 % zeros". */
  readonly rest: string;
  /** "✕ 3 · 0.1 % NaN"; "" if all values are finite. */
  readonly broken: string;
}

/** Undefined if the values were not recorded. */
export function valueText(trace: Trace, tensor: number): ValueText | undefined {
  const row = trace.table("value_stats").length ? traceTotals(trace).valueStat[tensor]! : -1;
  if (!(row >= 0)) return undefined;
  const { count, value, range, hasFinite } = statistics(trace, "value_stats", row);
  const zeros = formatShare(count("zeros"), count("elements"));
  const broken = (["nans", "infs"] as const)
    .filter((name) => count(name))
    .map((name) => `✕ ${shareText(count, name)} ${name === "nans" ? "NaN" : "Inf"}`);
  return {
    range: hasFinite ? range : "",
    rest: [
      hasFinite && t("values.mean", { mean: value("mean") }),
      zeros && t("values.zeros", { zeros }),
    ]
      .filter(Boolean)
      .join(" · "),
    broken: broken.join(" · "),
  };
}
