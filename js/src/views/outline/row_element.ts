/** A row of the outline as an element, and its marks. */
import { element } from "../../dom/element.ts";
import type { OutlineRow } from "./outline_rows.ts";

/** Properties that can change while the row's text stays the same. */
export interface RowMarks {
  /** Whether the selection highlights the row. */
  readonly isLit: boolean;
  /** Whether the row is the selection itself. */
  readonly isChosen: boolean;
  /** Whether the Tab key reaches the row. */
  readonly isCurrent: boolean;
}

/** A row without marks. */
export function rowElement(row: OutlineRow): HTMLElement {
  const key = (value: number): number | undefined => (value >= 0 ? value : undefined);
  const sign = row.expanded === undefined || row.op >= 0 ? "" : row.expanded ? "▾" : "▸";
  const line = element(
    "div",
    { class: "pdl-row" },
    element("span", { class: "pdl-row-sign", "aria-hidden": "true" }, sign),
    !!row.sign && element("span", { class: "pdl-row-mark" }, row.sign),
    element("span", {}, row.label),
    !!row.sublabel && element("small", {}, row.sublabel),
  );
  line.style.setProperty("--pdl-level", String(row.level - 1));
  return element(
    "div",
    {
      role: "treeitem",
      "aria-label": row.name,
      "aria-level": row.level,
      "aria-posinset": row.position,
      "aria-setsize": row.siblings,
      "aria-expanded": row.expanded === undefined ? undefined : String(row.expanded),
      "aria-selected": "false",
      tabindex: "-1",
      "data-id": row.id,
      "data-op": key(row.op),
      "data-grad-node": key(row.gradNode),
      "data-group": key(row.group),
      "data-tensor": key(row.tensor),
    },
    line,
  );
}

export function markRow(row: HTMLElement, { isLit, isChosen, isCurrent }: RowMarks): void {
  row.toggleAttribute("data-lit", isLit);
  row.firstElementChild!.classList.toggle("pdl-row-lit", isLit);
  row.setAttribute("aria-selected", String(isChosen));
  row.tabIndex = isCurrent ? 0 : -1;
}
