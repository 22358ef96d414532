/** The rows of the table, without their numbers: what each row stands for. */

import type { Selection } from "../state/view_state.ts";

export const ROW_KINDS = ["op", "each", "layer", "line", "turn", "node"] as const;
/** `op`: ops of one name; `each`: one op; `turn`: an iteration; `node`: a grad node. */
export type RowKind = (typeof ROW_KINDS)[number];

/** Places inside each other, such as scopes or stacks. A place comes after the place around it. */
export interface Places {
  readonly parent: ArrayLike<number>;
  /** The place of each op, -1 for none. */
  readonly ofOp: ArrayLike<number>;
  /** The row of each place, -1 for none. */
  readonly row: Int32Array;
}

export interface TableRows {
  readonly kind: RowKind;
  readonly count: number;
  /** The row of each op, or of each grad node; -1 for none. Of nested rows, the innermost. */
  readonly rowOf: Int32Array;
  /** Of nested rows: they include what is in the rows inside them. */
  readonly places?: Places;
  /** String code of each row's name. Rows of one name are sorted by their number. */
  readonly names?: ArrayLike<number>;
  /** What a row is in the graph; of the ops of one name, none. */
  selection(row: number): Selection;
}
