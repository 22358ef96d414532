/** One row of the table in the page. */

import { element } from "../../dom/element.ts";
import { comparisonOf } from "../../model/graph/comparison.ts";
import type { Selection } from "../../model/state/view_state.ts";
import type { Sums } from "../../model/table/sums.ts";
import { isLargest, type SumColumn } from "../../model/table/table_data.ts";
import type { Trace } from "../../trace/trace.ts";
import { t } from "../../words/page.ts";
import { formatShare } from "../../words/quantities.ts";
import { differenceText } from "../names/difference.ts";
import { exactSum, formatSum } from "./columns.ts";
import type { RowText } from "./labels.ts";

/** How many characters of a name stay at its end when the middle is cut. */
const END_LENGTH = 14;

/** A name whose middle is cut if the name does not fit. The tooltip has the whole name. */
export function nameCell({ name, note }: RowText): HTMLElement {
  const at = Math.max(0, name.length - END_LENGTH);
  const [title, label] = ["\n", " "].map((between) => [name, note].filter(Boolean).join(between));
  return element(
    "td",
    // Screen readers read the name as one word, although its middle is cut.
    { class: "pdl-costs-name", title, "aria-label": label },
    element(
      "span",
      {},
      at > 0 && element("span", { class: "pdl-costs-start" }, name.slice(0, at)),
      element("span", { class: "pdl-costs-end" }, name.slice(at)),
      !!note && element("small", {}, note),
    ),
  );
}

/** A number, and a bar that shows the number's share of the whole column. */
export function sumCell(column: SumColumn, sums: Sums, row: number): HTMLElement {
  const value = sums.values[row]!;
  const { text, title } = sumText(
    column,
    { value, known: sums.known[row]!, unknown: sums.unknown[row]! },
    sums.total,
  );
  const share = sums.total > 0 && sums.known[row]! > 0 ? Math.min(1, value / sums.total) : 0;
  return element(
    "td",
    { class: value === 0 ? "pdl-number pdl-soft" : "pdl-number", title },
    share > 0 &&
      element("span", {
        class: "pdl-cell-bar",
        style: `width:${(100 * share).toFixed(2)}%`,
        "aria-hidden": "true",
      }),
    element("span", {}, text),
  );
}

/** The state of one op in a comparison. */
export function differenceCell(trace: Trace, selection: Selection): HTMLElement {
  const kind = selection.kind === "op" && comparisonOf(trace)?.kinds[selection.op];
  return element(
    "td",
    { class: "pdl-number" },
    typeof kind === "number" ? differenceText(kind) : "–",
  );
}

/** "–" if nothing is known, and "≥ 12" if a part is unknown. */
export function sumText(
  column: SumColumn,
  { value, known, unknown }: { value: number; known: number; unknown: number },
  whole?: number,
): { text: string; title: string } {
  // "≥ 0" would be no information.
  if (!known || (unknown && !value)) {
    const why = unknown ? "not_known" : column === "kernel" ? "no_kernel" : "no_op";
    return { text: "–", title: t(`table.${why}`) };
  }
  const isPart = unknown > 0;
  const share = whole === undefined || isLargest(column) ? "" : formatShare(value, whole);
  const title = [
    exactSum(column, value),
    share && t("table.share", { share }),
    isPart && t("table.unknown_ops", { n: unknown }),
  ];
  return {
    text: `${isPart ? "≥ " : ""}${formatSum(column, value)}`,
    title: title.filter(Boolean).join("\n"),
  };
}
