/** The rows of the table without their numbers: which items each row represents. */

import type { Selection } from "../state/view_state.ts";

export const ROW_KINDS = ["op", "each", "layer", "line", "turn", "node"] as const;
/** `op`: ops of one name; `each`: one op; `turn`: an iteration; `node`: grad nodes of one name. */
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
 * The rows of a table, and the items in each. If the rows are grad nodes, an item is a grad node;
 * otherwise it is an op or a backward call of any thread.
 */
export interface TableRows {
  readonly kind: RowKind;
  readonly count: number;
  /** The row of each item, -1 for none; for nested rows, the innermost one. */
  readonly rowOf: Int32Array;
  /** A row includes the items in its places. Without places, no row contains another. */
  readonly places?: Places;
  /** For each row: the position of its name in `strings`, or below 0 a kind of backward call. */
  readonly names?: ArrayLike<number>;
  /** The last row, for items in no layer, iteration or known line; -1 for none. */
  readonly rest?: number;
  /** The row's selection in the graph; nothing if the row has several ops or nodes of one name. */
  selection(row: number): Selection;
}

/** Whether a row is also shown if only rows inside it contain search results. */
export function isNested(kind: RowKind): boolean {
  return kind === "layer" || kind === "line" || kind === "turn";
}
