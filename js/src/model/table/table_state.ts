/** What the table shows: the rows, their order, and the highlighted rows. */

import { BACKWARD_KINDS } from "../../trace/protocol.ts";
import type { Trace } from "../../trace/trace.ts";
import { comparisonOf } from "../graph/comparison.ts";
import type { Store } from "../state/store.ts";
import type { Selection } from "../state/view_state.ts";
import { allSpans, spanOfOps } from "../time/spans.ts";
import { rowsOf, selectionOfSpan } from "./rows_of.ts";
import { ranksOf, type Sorting, sortedBy, sortRows } from "./sorting.ts";
import { type TableColumn, type TableData, tableData } from "./table_data.ts";
import type { RowKind, TableRows } from "./table_rows.ts";

export class TableState {
  #kind: RowKind = "op";
  #sorting: Sorting<TableColumn>;
  readonly #known = new Map<RowKind, TableRows>();
  #data: TableData | undefined;
  #matches: readonly number[] | undefined;
  #order: Int32Array | undefined;

  /** @param nameOf returns the name by which a row is sorted */
  constructor(
    readonly store: Store,
    readonly nameOf: (rows: TableRows, row: number) => string,
  ) {
    this.#sorting = { by: comparisonOf(store.trace) ? "differing" : "self", isDown: true };
  }

  get kind(): RowKind {
    return this.#kind;
  }

  /** The chosen column. If it is not shown, this is the first column with numbers. */
  get sorting(): Sorting<TableColumn> {
    const { sums } = this.data;
    const { by } = this.#sorting;
    const isThere = by === "name" || by === "dtype" || sums.has(by);
    const [first] = sums.keys();
    return isThere ? this.#sorting : { by: first ?? "name", isDown: first !== undefined };
  }

  choose(kind: RowKind): void {
    this.#kind = kind;
    this.#data = this.#order = undefined;
  }

  sortBy(column: TableColumn): void {
    this.#sorting = sortedBy(this.sorting, column, column === "name" || column === "dtype");
    this.#order = undefined;
  }

  /** Whether only the ops that a search found are counted. */
  get isFiltered(): boolean {
    return this.store.state.query.trim() !== "";
  }

  get #rows(): TableRows {
    let rows = this.#known.get(this.#kind);
    if (!rows) {
      rows = rowsOf(this.store.trace, this.#kind);
      this.#known.set(this.#kind, rows);
    }
    return rows;
  }

  get data(): TableData {
    const found = this.isFiltered ? this.store.state.matches : undefined;
    if (!this.#data || found !== this.#matches) {
      this.#matches = found;
      const mask = found && foundMask(found, this.store.trace.opCount);
      this.#data = tableData(this.store.trace, this.#rows, mask);
      this.#order = undefined;
    }
    return this.#data;
  }

  /** The rows that are shown, in their order. */
  get order(): Int32Array {
    const { data, sorting } = this;
    this.#order ??= sortRows(data.shown, this.#keys(data), sorting.isDown);
    return this.#order;
  }

  #keys({ rows, sums, dtypes }: TableData): Float64Array {
    const { by } = this.sorting;
    const { trace } = this.store;
    if (by === "name") {
      if (rows.kind === "each") {
        const codes = [...new Set(Array.from(rows.names!))];
        const ranks = ranksOf(codes.map((code) => textOfName(trace, code)));
        const rankOf = new Map(codes.map((code, at) => [code, ranks[at]!]));
        return Float64Array.from(rows.names!, (code) => rankOf.get(code)!);
      }
      return ranksOf(Array.from({ length: rows.count }, (_, row) => this.nameOf(rows, row)));
    }
    if (by === "dtype") return Float64Array.from(dtypes);
    const column = sums.get(by);
    const keys = new Float64Array(rows.count).fill(Number.NaN);
    for (let row = 0; column && row < keys.length; row++) {
      if (column.known[row]) keys[row] = column.values[row]!;
    }
    return keys;
  }

  /** 1 for each row with a highlighted item. */
  litRows(): Uint8Array {
    const { rows } = this.data;
    const lit = new Uint8Array(rows.count);
    const { trace, state } = this.store;
    if (state.selection.kind === "none") return lit;
    const isOfNodes = rows.kind === "node";
    const [itemOf, isMeant] = isOfNodes
      ? [undefined, this.store.litGradNodes()]
      : [spanOfOps(trace), this.store.litOps()];
    isMeant.forEach((isLit, key) => {
      const row = isLit ? (rows.rowOf[itemOf ? itemOf[key]! : key] ?? -1) : -1;
      if (row >= 0) lit[row] = 1;
    });
    return lit;
  }

  /** Whether a row is the selection itself. */
  isSelected(row: number): boolean {
    return isSame(this.data.rows.selection(row), this.store.selectionInGraph);
  }

  /**
   * The selection after a click on a row. For ops or grad nodes with the same name, each click
   * selects the next one.
   */
  selectionOf(row: number, isNext: boolean): Selection {
    const { rows, mask } = this.data;
    if (rows.kind !== "op" && rows.kind !== "node") return rows.selection(row);
    const { trace, state } = this.store;
    const { selection } = state;
    const isOfNodes = rows.kind === "node";
    const chosen = isOfNodes
      ? selection.kind === "grad_node" && selection.gradNode
      : selection.kind === "op" && spanOfOps(trace)[selection.op]!;
    const from = isNext && chosen !== false && rows.rowOf[chosen] === row ? chosen : -1;
    const count = rows.rowOf.length;
    for (let step = 1; step <= count; step++) {
      const item = (from + step) % count;
      if (rows.rowOf[item] !== row || (mask && !mask[item])) continue;
      return isOfNodes
        ? { kind: "grad_node", gradNode: item }
        : selectionOfSpan(trace, allSpans(trace), item);
    }
    return { kind: "none" };
  }
}

/** The text of a number in `names`. */
export function textOfName(trace: Trace, name: number): string {
  return name < 0 ? BACKWARD_KINDS[-1 - name]! : trace.text(name);
}

function foundMask(found: readonly number[], count: number): Uint8Array {
  const mask = new Uint8Array(count);
  for (const op of found) mask[op] = 1;
  return mask;
}

function isSame(a: Selection, b: Selection): boolean {
  switch (a.kind) {
    case "op":
      return b.kind === "op" && a.op === b.op;
    case "grad_node":
      return b.kind === "grad_node" && a.gradNode === b.gradNode;
    case "group":
      return b.kind === "group" && a.group === b.group;
    case "line":
      return b.kind === "line" && a.file === b.file && a.line === b.line;
    default:
      return false;
  }
}
