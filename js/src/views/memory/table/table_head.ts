/** The head of the table of living blocks: its columns and the sort order. */

import { element } from "../../../dom/element.ts";
import type { SortColumn } from "../../../memory/grouping/group_order.ts";
import type { Sorting } from "../../../model/table/sorting.ts";
import { t } from "../../../words/page.ts";
import { showSorting, sortCell } from "../../table/sort_head.ts";

export class TableHead {
  readonly element: HTMLElement;
  readonly #cells: Readonly<Record<SortColumn, HTMLElement>>;
  readonly #name: HTMLButtonElement;

  constructor(sort: (by: SortColumn) => void) {
    const cell = (name: SortColumn, label: string): HTMLElement => {
      const kind = name === "name" ? undefined : "pdl-number";
      return sortCell({ name, label, title: t(`memory.column_${name}_title`), class: kind }, sort);
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

  /** @param isSpan whether to show the column of bytes allocated within a span */
  show(name: string, sorting: Sorting<SortColumn>, isSpan: boolean): void {
    if (this.#name.textContent !== name) {
      this.#name.textContent = name;
    }
    this.#cells.allocated_bytes.hidden = !isSpan;
    showSorting(Object.entries(this.#cells) as [SortColumn, HTMLElement][], sorting);
  }
}
