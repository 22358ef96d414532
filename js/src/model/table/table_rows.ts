/** The rows of the table without their numbers: which items belong to each row. */

import type { Selection } from "../state/view_state.ts";

export const ROW_KINDS = ["op", "each", "layer", "line", "turn", "node"] as const;
/**
 * `op`: ops with the same name; `each`: a single op; `turn`: an iteration; `node`: grad nodes with
 * the same name.
 */
export type RowKind = (typeof ROW_KINDS)[number];

/** Nested places, such as scopes or stacks. A place comes after the place that contains it. */
export interface Places {
  readonly parent: ArrayLike<number>;
  /** The place of each item, -1 for none. */
  readonly ofItem: ArrayLike<number>;
  /** The row of each place, -1 for none. */
  readonly row: Int32Array;
}

/**
 * The rows of a table, and their items. If the rows are grad nodes, the items are grad nodes.
 * Otherwise they are ops and backward calls of all threads.
 */
export interface TableRows {
  readonly kind: RowKind;
  readonly count: number;
  /** The row of each item, -1 for none. If rows are nested, this is the innermost row. */
  readonly rowOf: Int32Array;
  /** A row includes the items in its places. Without places, rows are not nested. */
  readonly places?: Places;
  /**
   * For each row: the position of its name in `strings`, or a number below 0 for a kind of backward
   * call.
   */
  readonly names?: ArrayLike<number>;
  /** The last row, for items outside of layers, iterations or known lines; -1 for none. */
  readonly rest?: number;
  /**
   * The selection in the graph for a row; none for several ops or grad nodes with the same name.
   */
  selection(row: number): Selection;
}

/** Whether a row is also shown if only rows inside it have search results. */
export function isNested(kind: RowKind): boolean {
  return kind === "layer" || kind === "line" || kind === "turn";
}
