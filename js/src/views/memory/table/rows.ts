/** Rows of the table of what was alive. */
import { button, element } from "../../../dom/element.ts";
import { swatch } from "../figure/swatch.ts";

/** What a row says; texts as they are shown. */
export interface RowContent {
  readonly group: number;
  readonly label: string;
  readonly note: string;
  /** Whether a click on it selects something. */
  readonly isLink: boolean;
  /** Position in MEMORY_KINDS of the swatch before the name, -1 for none. */
  readonly swatch: number;
  readonly size: string;
  readonly barStyle: string;
  readonly share: string;
  readonly count: string;
  /** "" where no span is chosen. */
  readonly allocated: string;
}

export function aliveRow(content: RowContent): HTMLTableRowElement {
  const { group, label, note, isLink, barStyle, share, allocated } = content;
  const number = (text: string): HTMLElement => element("td", { class: "pdl-number" }, text);
  const bar = element("span", { class: "pdl-share-bar", "aria-hidden": "true" });
  bar.append(element("span", { style: barStyle }));
  return element(
    "tr",
    { "data-group": group },
    element(
      "td",
      { class: "pdl-alive-name" },
      content.swatch >= 0 && swatch(content.swatch),
      isLink
        ? button(label, () => {}, { class: "pdl-link", title: label })
        : element("span", {}, label),
      !!note && " ",
      !!note && element("small", { title: note }, note),
    ),
    number(content.size),
    element("td", { class: "pdl-share" }, bar, element("span", {}, share)),
    number(content.count),
    !!allocated && number(allocated),
  );
}
