/** The columns of a table, as a page holds them. */

export type Column = Int32Array | Float64Array;

export interface Table {
  readonly length: number;
  readonly columns: Readonly<Record<string, Column>>;
}

/** Numbers of a column that holds the bits of 32-bit floats. */
export function floats(bits: Column): Float32Array {
  return new Float32Array(Int32Array.from(bits).buffer);
}
