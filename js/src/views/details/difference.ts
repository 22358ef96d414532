/** How the selected op differs from the other trace's op. */
import { element } from "../../dom/element.ts";
import { comparisonOf } from "../../model/graph/comparison.ts";
import { t } from "../../words/page.ts";
import { formatCount, formatValue } from "../../words/quantities.ts";
import type { PanelContext } from "../facts/context.ts";
import { type Fact, facts, section } from "../facts/facts.ts";
import { differenceText } from "../names/difference.ts";

/** Returns undefined if the trace is no comparison. */
export function differenceSection({ trace }: PanelContext, op: number): HTMLElement | undefined {
  const comparison = comparisonOf(trace);
  const row = comparison?.rowOf[op] ?? -1;
  if (!comparison || row < 0) return undefined;
  const reason = trace.textAt("compared", "reason", row);
  const other = trace.textAt("compared", "other", row);
  const ulp = trace.at("compared", "ulp", row);
  const error = (name: keyof typeof comparison.errors): Fact | false => {
    const value = comparison.errors[name][row]!;
    return !Number.isNaN(value) && [t(`difference.${name}`), formatValue(value)];
  };
  return section(
    t("difference.title"),
    "",
    facts([
      [t("difference.state"), differenceText(comparison.kinds[op]!)],
      !!reason && [t("difference.reason"), reason],
      error("max_abs"),
      error("max_rel"),
      error("cosine"),
      ulp >= 0 && [t("difference.ulp"), formatCount(ulp)],
      !!other && [t("difference.other"), element("code", {}, other)],
    ]),
  );
}
