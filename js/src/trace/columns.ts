/** What the schema does not say of tables and columns, and how a page holds them. */
import type { TableName } from "./protocol.ts";

/** Keys into their own table that always point at an earlier row: their chains end. */
export const EARLIER_COLUMNS: Partial<Record<TableName, string>> = {
  stacks: "caller",
  groups: "parent",
};

/** Tables with one row for each row of another. */
export const PARALLEL_TABLES: Partial<Record<TableName, TableName>> = {
  op_groups: "ops",
  grad_node_groups: "grad_nodes",
  op_frames: "ops",
};

/** Columns that hold the bits of 32-bit floats: see `floats()`. */
export function floats(bits: Column): Float32Array {
  return new Float32Array(Int32Array.from(bits).buffer);
}

export type Column = Int32Array | Float64Array;

/** The columns of one table. */
export interface Table {
  readonly length: number;
  readonly columns: Readonly<Record<string, Column>>;
}
