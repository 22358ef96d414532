/** What was in a tensor, where its values were recorded. */

import { element } from "../../dom/element.ts";
import { floats } from "../../trace/columns.ts";
import { t } from "../../words/page.ts";
import { formatValue } from "../../words/quantities.ts";
import type { PanelContext } from "../facts/context.ts";
import type { Fact } from "../facts/facts.ts";
import { shareText, warnedCount } from "./gradient.ts";

/** As facts of the tensor's own page; none where nothing was recorded. */
export function valueFacts(context: PanelContext, tensor: number): Fact[] {
  const row = context.totals.valueStat[tensor]!;
  if (row < 0) {
    return [];
  }
  const { count, value, hasFinite } = reader(context, row);
  return [
    ...(hasFinite
      ? ([
          [
            t("gradient.range"),
            `${formatValue(value("smallest"))} … ${formatValue(value("largest"))}`,
          ],
          [t("gradient.mean"), formatValue(value("mean"))],
          [t("gradient.norm"), formatValue(value("norm"))],
        ] satisfies Fact[])
      : []),
    [t("gradient.zeros"), shareText(count("zeros"), count("elements"))],
    ["NaN", warnedCount(count("nans"), count("elements"))],
    ["Inf", warnedCount(count("infs"), count("elements"))],
  ];
}

/** As one line below a tensor of an op. */
export function valueLine(context: PanelContext, tensor: number): HTMLElement | "" {
  const row = context.totals.valueStat[tensor]!;
  if (row < 0) {
    return "";
  }
  const { count, value, hasFinite } = reader(context, row);
  const figures = hasFinite
    ? [
        `${formatValue(value("smallest"))} … ${formatValue(value("largest"))}`,
        t("values.mean", { mean: formatValue(value("mean")) }),
      ]
    : [];
  const zeros = count("zeros")
    ? [t("values.zeros", { zeros: shareText(count("zeros"), count("elements")) })]
    : [];
  const broken = (["nans", "infs"] as const).flatMap((name) =>
    count(name)
      ? [`✕ ${shareText(count(name), count("elements"))} ${name === "nans" ? "NaN" : "Inf"}`]
      : [],
  );
  return element(
    "div",
    { class: "pdl-values" },
    [...figures, ...zeros].join(" · "),
    broken.length > 0 &&
      element(
        "span",
        { class: "pdl-warn-text" },
        `${figures.length + zeros.length ? " · " : ""}${broken.join(" · ")}`,
      ),
  );
}

function reader({ trace }: PanelContext, row: number) {
  const count = (column: "elements" | "zeros" | "nans" | "infs"): number =>
    trace.at("value_stats", column, row);
  const value = (column: "smallest" | "largest" | "mean" | "norm"): number =>
    floats(Int32Array.of(trace.at("value_stats", column, row)))[0]!;
  return { count, value, hasFinite: count("elements") > count("nans") + count("infs") };
}
