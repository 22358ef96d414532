/** The head of the table of what was alive: its columns and the sort order. */

import { button, element } from "../../../dom/element.ts";
import type { SortColumn, Sorting } from "../../../memory/grouping/group_order.ts";
import { t } from "../../../words/page.ts";

export class TableHead {
  readonly element: HTMLElement;
  readonly #cells: Readonly<Record<SortColumn, HTMLElement>>;
  readonly #name: HTMLButtonElement;

  constructor(sort: (by: SortColumn) => void) {
    const cell = (by: SortColumn, label: string): HTMLElement => {
      const press = button(label, () => sort(by), {
        class: "pdl-sort",
        "data-sort": by,
        title: t(`memory.column_${by}_title`),
      });
      const kind = by === "name" ? undefined : "pdl-number";
      return element("th", { scope: "col", class: kind }, press);
    };
    this.#cells = {
      name: cell("name", ""),
      bytes: cell("bytes", t("memory.column_bytes")),
      counts: cell("counts", t("memory.column_counts")),
      allocated_bytes: cell("allocated_bytes", t("memory.column_allocated_bytes")),
    };
    this.#name = this.#cells.name.querySelector("button")!;
    this.element = element(
      "thead",
      {},
      element(
        "tr",
        {},
        this.#cells.name,
        this.#cells.bytes,
        element(
          "th",
          { scope: "col", class: "pdl-share", title: t("memory.share_title") },
          t("memory.share"),
        ),
        this.#cells.counts,
        this.#cells.allocated_bytes,
      ),
    );
  }

  /** How many columns are shown. */
  get columnCount(): number {
    return this.#cells.allocated_bytes.hidden ? 4 : 5;
  }

  /** @param isSpan whether to show the column of what was allocated within a span */
  show(name: string, { by, isDown }: Sorting, isSpan: boolean): void {
    if (this.#name.textContent !== name) {
      this.#name.textContent = name;
    }
    this.#cells.allocated_bytes.hidden = !isSpan;
    for (const [column, cell] of Object.entries(this.#cells)) {
      const order = column !== by ? "none" : isDown ? "descending" : "ascending";
      cell.setAttribute("aria-sort", order);
    }
  }
}
