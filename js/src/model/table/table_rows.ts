/** The rows of the table, without their numbers: what each row stands for. */

import type { Selection } from "../state/view_state.ts";

export const ROW_KINDS = ["op", "each", "layer", "line", "turn", "node"] as const;
/** `op`: ops of one name; `each`: one op; `turn`: an iteration; `node`: grad nodes of one name. */
export type RowKind = (typeof ROW_KINDS)[number];

/** Places inside each other, such as scopes or stacks. A place comes after the place around it. */
export interface Places {
  readonly parent: ArrayLike<number>;
  /** The place of each item, -1 for none. */
  readonly ofItem: ArrayLike<number>;
  /** The row of each place, -1 for none. */
  readonly row: Int32Array;
}

/** Items are the spans of all threads, ops and backward calls; of grad nodes, the nodes. */
export interface TableRows {
  readonly kind: RowKind;
  readonly count: number;
  /** The row of each item, -1 for none; of rows inside each other, the innermost. */
  readonly rowOf: Int32Array;
  /** Where items are: a row includes what is inside its places. Without it, nothing is in another. */
  readonly places?: Places;
  /** By row, a number for each name: a string code, or below 0 a kind of backward call. */
  readonly names?: ArrayLike<number>;
  /** The last row, of the items that are in no layer, iteration or known line; -1 for none. */
  readonly rest?: number;
  /** What a row is in the graph; of the ops or grad nodes of one name, none. */
  selection(row: number): Selection;
}

/** Whether a row also shows where only rows inside it have what a search found. */
export function isNested(kind: RowKind): boolean {
  return kind === "layer" || kind === "line" || kind === "turn";
}
