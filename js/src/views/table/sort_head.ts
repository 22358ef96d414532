/** The head of a sortable table. */

import { button, element } from "../../dom/element.ts";
import type { Sorting } from "../../model/table/sorting.ts";

export interface HeadColumn<Column extends string> {
  readonly name: Column;
  readonly label: string;
  readonly title: string;
  readonly class?: string | undefined;
}

/** The head of one column: a button that sorts the rows by this column. */
export function sortCell<Column extends string>(
  { name, label, title, class: kind }: HeadColumn<Column>,
  sort: (by: Column) => void,
): HTMLElement {
  const press = button(label, () => sort(name), { class: "pdl-sort", "data-sort": name, title });
  return element("th", { scope: "col", class: kind }, press);
}

/** Show by which column the rows are sorted. */
export function showSorting<Column extends string>(
  cells: Iterable<readonly [Column, HTMLElement]>,
  { by, isDown }: Sorting<Column>,
): void {
  for (const [column, cell] of cells) {
    const order = column !== by ? "none" : isDown ? "descending" : "ascending";
    cell.setAttribute("aria-sort", order);
  }
}
