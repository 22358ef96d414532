/** Statistics of a tensor's values, if they were recorded. */

import { element } from "../../dom/element.ts";
import { t } from "../../words/page.ts";
import type { PanelContext } from "../facts/context.ts";
import type { Fact } from "../facts/facts.ts";
import { countFacts, shareText, statistics } from "./statistics.ts";

/** As facts for the tensor's own page; empty if nothing was recorded. */
export function valueFacts({ trace, totals }: PanelContext, tensor: number): Fact[] {
  const row = totals.valueStat[tensor]!;
  if (row < 0) {
    return [];
  }
  const values = statistics(trace, "value_stats", row);
  const finite: Fact[] = [
    [t("gradient.range"), values.range],
    [t("gradient.mean"), values.value("mean")],
    [t("gradient.norm"), values.value("norm")],
  ];
  return [...(values.hasFinite ? finite : []), ...countFacts(values)];
}

/** As one line below a tensor on an op's page. */
export function valueLine({ trace, totals }: PanelContext, tensor: number): HTMLElement | "" {
  const row = totals.valueStat[tensor]!;
  if (row < 0) {
    return "";
  }
  const { count, value, range, hasFinite } = statistics(trace, "value_stats", row);
  const parts = hasFinite ? [range, t("values.mean", { mean: value("mean") })] : [];
  if (count("zeros")) parts.push(t("values.zeros", { zeros: shareText(count, "zeros") }));
  const broken = (["nans", "infs"] as const)
    .filter((name) => count(name))
    .map((name) => `✕ ${shareText(count, name)} ${name === "nans" ? "NaN" : "Inf"}`)
    .join(" · ");
  const between = parts.length ? " · " : "";
  return element(
    "div",
    { class: "pdl-values" },
    parts.join(" · "),
    !!broken && element("span", { class: "pdl-warn-text" }, between + broken),
  );
}
