/** How the selected op differs from the other trace's op. */
import { button, element } from "../../dom/element.ts";
import { comparisonOf } from "../../model/graph/comparison.ts";
import { t } from "../../words/page.ts";
import { formatCount, formatValue } from "../../words/quantities.ts";
import type { PanelContext } from "../facts/context.ts";
import { type Fact, facts, section } from "../facts/facts.ts";
import { differenceText } from "../names/difference.ts";

/** Returns undefined if the trace is no comparison. */
export function differenceSection(context: PanelContext, op: number): HTMLElement | undefined {
  const { trace } = context;
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
      ...(["max_abs", "max_rel", "cosine"] as const).map(error),
      ulp >= 0 && [t("difference.ulp"), formatCount(ulp)],
      !!other && [t("difference.other"), otherPlace(context, op, other)],
    ]),
  );
}

/** The other trace's op and line. If it differs, this opens that trace's source. */
function otherPlace({ trace, openFrame }: PanelContext, op: number, text: string): HTMLElement {
  const [ops, frames] = trace.columns("other_frames", "op", "frame");
  const frame = frames[ops.indexOf(op)];
  const code = element("code", {}, text);
  return frame === undefined ? code : button(text, () => openFrame(frame), { class: "pdl-link" });
}
