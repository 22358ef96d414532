/** Statistics of a tensor's values, if they were recorded. */

import { element } from "../../../dom/element.ts";
import { histogramOf } from "../../../model/gradients/histogram.ts";
import { floats } from "../../../trace/columns.ts";
import { t } from "../../../words/page.ts";
import { formatValue } from "../../../words/quantities.ts";
import type { PanelContext } from "../../facts/context.ts";
import { type Fact, facts, section } from "../../facts/facts.ts";
import { valueText } from "../../names/value_text.ts";
import { histogram } from "./histogram.ts";
import { countFacts, statistics } from "./statistics.ts";

/** A section of the tensor's own page; none if nothing was recorded. */
export function valueSection({ trace, totals }: PanelContext, tensor: number): HTMLElement[] {
  const row = totals.valueStat[tensor]!;
  if (row < 0) return [];
  const values = statistics(trace, "value_stats", row);
  if (!values.count("elements")) return []; // only a digest is known
  const deviations = trace.table("value_deviations");
  const at = deviations.column("value_stat").indexOf(row);
  const deviation = at >= 0 && floats(Int32Array.of(deviations.column("deviation")[at]!))[0]!;
  const finite: (Fact | false)[] = [
    [t("gradient.range"), values.range],
    [t("gradient.mean"), values.value("mean")],
    deviation !== false && [t("values.deviation"), formatValue(deviation)],
    [t("gradient.norm"), values.value("norm")],
  ];
  const bins = histogramOf(trace, "value", row);
  return [
    section(
      t("gradient.values"),
      t("count.element", { n: values.count("elements") }),
      facts([...(values.hasFinite ? finite : []), ...countFacts(values)]),
      ...(bins.length ? [histogram({ bins, zeros: values.count("zeros") })] : []),
    ),
  ];
}

/** The statistics as one line, below a tensor on an op's page. */
export function valueLine({ trace }: PanelContext, tensor: number): HTMLElement | "" {
  const text = valueText(trace, tensor);
  if (!text) return "";
  const known = [text.range, text.rest].filter(Boolean).join(" · ");
  const broken = text.broken && known ? ` · ${text.broken}` : text.broken;
  return element(
    "div",
    { class: "pdl-values" },
    known,
    !!broken && element("span", { class: "pdl-warn-text" }, broken),
  );
}
