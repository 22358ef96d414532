/** The head, rows and foot of the table. */

import { button, element } from "../../dom/element.ts";
import type { Store } from "../../model/state/store.ts";
import { dtypeNames } from "../../model/table/dtypes.ts";
import { isLargest, type TableColumn } from "../../model/table/table_data.ts";
import type { TableState } from "../../model/table/table_state.ts";
import { t } from "../../words/page.ts";
import { differenceCell, nameCell, sumCell, sumText } from "./cells.ts";
import { columnLabel, columnTitle } from "./columns.ts";
import { Grid } from "./grid.ts";
import { rowText } from "./labels.ts";
import { showSorting, sortCell } from "./sort_head.ts";
import { unknownNames } from "./unknown.ts";

export class TableBody {
  readonly element: HTMLElement;
  /** How many rows are shown. */
  readonly summary = element("span", { class: "pdl-soft", role: "status" });
  /** A note about unknown values. */
  readonly note = element("div", { class: "pdl-costs-note" });
  /** The text shown if there are no rows. */
  readonly nothing: HTMLElement;
  readonly #nothingText = element("span", { role: "status" });
  readonly #head = element("tr");
  readonly #foot = element("tr");
  readonly #grid: Grid;
  readonly #resized: ResizeObserver;
  /** Whether the table itself is changing the selection: the rows then do not scroll. */
  #isPicking = false;

  constructor(
    readonly store: Store,
    readonly state: TableState,
  ) {
    this.#grid = new Grid(
      t("mode.table"),
      element("thead", {}, this.#head),
      element("tfoot", {}, this.#foot),
      (at, isByKey) => this.#pick(at, !isByKey),
    );
    this.nothing = element(
      "div",
      { class: "pdl-costs-nothing", hidden: true },
      this.#nothingText,
      button(t("search.clear"), () => store.update({ query: "", matches: [] })),
    );
    this.element = this.#grid.element;
    this.element.append(this.nothing);
    this.#resized = new ResizeObserver(() => this.#grid.refresh());
    this.#resized.observe(this.element);
  }

  dispose(): void {
    this.#resized.disconnect();
  }

  focus(): void {
    this.#grid.focus();
  }

  /** Show rows, numbers and order again, after a change. */
  render(): void {
    const { state } = this;
    const { data } = state;
    const columns: TableColumn[] = ["name", ...data.sums.keys(), "dtype"];
    this.#renderHead(columns);
    this.#renderFoot(columns);
    this.summary.textContent = this.#summaryText();
    this.note.replaceChildren(
      ...unknownNames(this.store.trace, data).map((text) => element("p", {}, text)),
    );
    this.nothing.hidden = data.shown.length > 0;
    this.#nothingText.textContent = t(
      this.store.state.matches.length ? "table.no_node" : "search.nothing",
      { query: this.store.state.query.trim() },
    );
    this.element.style.setProperty("--pdl-columns", String(columns.length - 1));
    this.#showRows();
  }

  /** Mark the rows of the selection; scroll to the first if the selection came from elsewhere. */
  follow(): void {
    this.#showRows(!this.#isPicking);
  }

  #showRows(isFollowed?: boolean): void {
    const { state } = this;
    const { data, order } = state;
    const { trace } = this.store;
    const lit = state.litRows();
    const rows = {
      length: order.length,
      cells: (at: number): HTMLElement[] => {
        const row = order[at]!;
        return [
          nameCell(rowText(trace, data.rows, row)),
          ...Array.from(data.sums, ([column, sums]) =>
            column === "differing" && data.rows.kind === "each"
              ? differenceCell(trace, data.rows.selection(row))
              : sumCell(column, sums, row),
          ),
          element("td", { class: "pdl-costs-dtype" }, dtypeNames(trace, data.dtypes[row]!) || "–"),
        ];
      },
      isSelected: (at: number) => state.isSelected(order[at]!),
      isLit: (at: number) => lit[order[at]!] === 1,
    };
    if (isFollowed === undefined) this.#grid.show(rows);
    else this.#grid.mark(rows);
    if (isFollowed === false || !lit.includes(1)) return;
    const exact = order.findIndex((row) => state.isSelected(row));
    const first = exact >= 0 ? exact : order.findIndex((row) => lit[row] === 1);
    if (first >= 0) this.#grid.reveal(first);
  }

  #renderHead(columns: readonly TableColumn[]): void {
    const { kind, sorting } = this.state;
    const focused = document.activeElement?.closest<HTMLElement>("[data-sort]")?.dataset.sort;
    const cells = columns.map((name) =>
      sortCell(
        {
          name,
          label: columnLabel(name, kind),
          title: columnTitle(name, kind),
          class: classOf(name),
        },
        (by) => {
          this.state.sortBy(by);
          this.render();
        },
      ),
    );
    this.#head.replaceChildren(...cells);
    showSorting(
      columns.map((name, at) => [name, cells[at]!] as const),
      sorting,
    );
    const again = focused && this.#head.querySelector<HTMLElement>(`[data-sort="${focused}"]`);
    if (again) again.focus({ preventScroll: true });
  }

  #renderFoot(columns: readonly TableColumn[]): void {
    const { data } = this.state;
    this.#foot.replaceChildren(
      ...columns.map((name) => {
        if (name === "name") return element("td", { class: classOf(name) }, t("table.sum"));
        const sums = name === "dtype" ? undefined : data.sums.get(name);
        if (!sums || name === "dtype") return element("td", { class: classOf(name) });
        if (isLargest(name)) return element("td", { class: classOf(name) });
        const { text, title } = sumText(name, {
          value: sums.total,
          known: sums.totalKnown,
          unknown: sums.totalUnknown,
        });
        return element("td", { class: classOf(name), title }, text);
      }),
    );
  }

  #summaryText(): string {
    const { data, isFiltered } = this.state;
    const rows = t("table.row_count", { n: data.shown.length });
    if (!isFiltered || !data.shown.length) return rows;
    return `${rows} · ${t("table.of_found", { n: this.store.state.matches.length })}`;
  }

  #pick(at: number, isNext: boolean): void {
    const row = this.state.order[at]!;
    this.#isPicking = true;
    const selection = this.state.selectionOf(row, isNext);
    if (selection.kind !== "none") this.store.select(selection);
    this.#isPicking = false;
  }
}

function classOf(column: TableColumn): string {
  if (column === "name") return "pdl-costs-name";
  return column === "dtype" ? "pdl-costs-dtype" : "pdl-number";
}
