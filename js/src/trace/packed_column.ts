/** One column of a payload, as `paddle_lab/trace/pack.py` stores it, to numbers. */

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

/** @throws TypeError if it is of a type that there is not */
export function widthOf(stored: PackedColumn): number {
  const width = WIDTH_BYTES[stored.dtype];
  if (!width) {
    throw new TypeError("unknown column type");
  }
  return width;
}

/** @param isWide whether its numbers may need 64 bits, however narrow they are stored */
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

// Of a million rows, each of these takes a few ms as long as it meets arrays of one type alone.

/** Signed integers of up to four bytes. A loop for each width: they are the hot ones. */
function readIntegers({ buffer, start, rows }: Planes, width: number): Int32Array {
  const plane = (i: number) => new Uint8Array(buffer, start + i * rows, rows);
  const high = new Int8Array(buffer, start + (width - 1) * rows, rows);
  if (width === 1) {
    return new Int32Array(high);
  }
  const values = new Int32Array(rows);
  const low = plane(0);
  if (width === 2) {
    for (let row = 0; row < rows; row++) {
      values[row] = (high[row]! << 8) | low[row]!;
    }
  } else {
    const [second, third] = [plane(1), plane(2)];
    for (let row = 0; row < rows; row++) {
      values[row] = (high[row]! << 24) | (third[row]! << 16) | (second[row]! << 8) | low[row]!;
    }
  }
  return values;
}

/** Signed integers of eight bytes, as doubles. */
function readDoubles({ buffer, start, rows }: Planes): Float64Array {
  const plane = (i: number) => new Uint8Array(buffer, start + i * rows, rows);
  const [a, b, c, d] = [plane(0), plane(1), plane(2), plane(3)];
  const [e, f, g] = [plane(4), plane(5), plane(6)];
  const sign = new Int8Array(buffer, start + 7 * rows, rows);
  const values = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    const high = (sign[row]! << 24) | (g[row]! << 16) | (f[row]! << 8) | e[row]!;
    const low = ((d[row]! << 24) | (c[row]! << 16) | (b[row]! << 8) | a[row]!) >>> 0;
    values[row] = high * 2 ** 32 + low;
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
