/** The columns of a table, in the page. */

export type Column = Int32Array | Float64Array;

export interface Table {
  readonly length: number;
  readonly columns: Readonly<Record<string, Column>>;
}

/** The numbers of a column that contains the bits of 32-bit floats. */
export function floats(bits: Column): Float32Array {
  return new Float32Array(Int32Array.from(bits).buffer);
}
