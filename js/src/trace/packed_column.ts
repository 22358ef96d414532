/** Converts one column of a payload, as `paddle_lab/trace/pack.py` stores it, to numbers. */

import type { Column } from "./columns.ts";

export interface PackedColumn {
  dtype: "i1" | "i2" | "i4" | "i8";
  delta: boolean;
}

const WIDTH_BYTES = { i1: 1, i2: 2, i4: 4, i8: 8 } as const;

/** Where a column's bytes are: the lowest bytes of all rows come first. */
export interface Planes {
  readonly buffer: ArrayBuffer;
  readonly start: number;
  readonly rows: number;
}

/** @throws TypeError if the column's type is unknown */
export function widthOf(stored: PackedColumn): number {
  const width = WIDTH_BYTES[stored.dtype];
  if (!width) {
    throw new TypeError("unknown column type");
  }
  return width;
}

/** @param isWide whether its numbers may need 64 bits, even if fewer are stored */
export function readColumn(planes: Planes, stored: PackedColumn, isWide: boolean): Column {
  if (stored.dtype === "i8") {
    const column = readDoubles(planes);
    return stored.delta ? summedDoubles(column, column) : column;
  }
  const values = readIntegers(planes, widthOf(stored));
  if (isWide) {
    return stored.delta
      ? summedDoubles(values, new Float64Array(values.length))
      : new Float64Array(values);
  }
  return stored.delta ? summedIntegers(values) : values;
}

/** Signed integers of up to four bytes; the highest byte has the sign. */
function readIntegers({ buffer, start, rows }: Planes, width: number): Int32Array {
  const values = new Int32Array(new Int8Array(buffer, start + (width - 1) * rows, rows));
  for (let at = width - 2; at >= 0; at--) {
    const plane = new Uint8Array(buffer, start + at * rows, rows);
    for (let row = 0; row < rows; row++) {
      values[row] = (values[row]! << 8) | plane[row]!;
    }
  }
  return values;
}

/** Signed integers of eight bytes, as doubles. */
function readDoubles(planes: Planes): Float64Array {
  const { start, rows } = planes;
  const low = readIntegers(planes, 4);
  const high = readIntegers({ ...planes, start: start + 4 * rows }, 4);
  const values = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    values[row] = high[row]! * 2 ** 32 + (low[row]! >>> 0);
  }
  return values;
}

function summedIntegers(differences: Int32Array): Int32Array {
  let sum = 0;
  for (let row = 0; row < differences.length; row++) {
    sum = (sum + differences[row]!) | 0;
    differences[row] = sum;
  }
  return differences;
}

function summedDoubles(differences: Column, into: Float64Array): Float64Array {
  let sum = 0;
  for (let row = 0; row < into.length; row++) {
    sum += differences[row]!;
    into[row] = sum;
  }
  return into;
}
