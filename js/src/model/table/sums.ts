/** Sums of amounts over the rows of a table. */

import type { Places, TableRows } from "./table_rows.ts";

export interface Sums {
  /** By row: the sum of what is known. */
  readonly values: Float64Array;
  /** By row: of how many ops it is known. */
  readonly known: Int32Array;
  /** By row: of how many it is not. */
  readonly unknown: Int32Array;
  /** Of all counted ops, each once. */
  readonly total: number;
  readonly totalKnown: number;
  readonly totalUnknown: number;
}

/** Which ops or grad nodes are counted; all if undefined. */
export type Mask = Uint8Array | undefined;

/**
 * @param isNested whether a row includes the rows inside it
 */
export function sumRows(
  rows: TableRows,
  amounts: ArrayLike<number>,
  mask: Mask,
  isNested: boolean,
): Sums {
  const nesting = isNested ? rows.places : undefined;
  const bins = nesting ? nesting.parent.length : rows.count;
  const binOf = nesting ? nesting.ofOp : rows.rowOf;
  const [values, known, unknown] = [
    new Float64Array(bins),
    new Int32Array(bins),
    new Int32Array(bins),
  ];
  let [total, totalKnown, totalUnknown] = [0, 0, 0];
  for (let op = 0; op < rows.rowOf.length; op++) {
    if (mask && !mask[op]) continue;
    const amount = amounts[op]!;
    const isKnown = amount >= 0;
    if (isKnown) {
      total += amount;
      totalKnown++;
    } else totalUnknown++;
    const bin = binOf[op]!;
    if (bin < 0) continue;
    if (isKnown) {
      values[bin]! += amount;
      known[bin]!++;
    } else unknown[bin]!++;
  }
  const up = <T extends Float64Array | Int32Array>(bin: T): T =>
    nesting ? (rowsFromPlaces(nesting, rows.count, bin) as T) : bin;
  return {
    values: up(values),
    known: up(known),
    unknown: up(unknown),
    total,
    totalKnown,
    totalUnknown,
  };
}

/** From what is right in each place to what is anywhere in each row. */
function rowsFromPlaces(
  { parent, row }: Places,
  rowCount: number,
  right: Float64Array | Int32Array,
): Float64Array | Int32Array {
  const inside = right.slice();
  for (let place = inside.length - 1; place >= 0; place--) {
    if (parent[place]! >= 0) inside[parent[place]!]! += inside[place]!;
  }
  const sums =
    right instanceof Float64Array ? new Float64Array(rowCount) : new Int32Array(rowCount);
  for (let place = 0; place < inside.length; place++) {
    if (row[place]! >= 0 && inside[place] && !isInsideOwnRow(place, parent, row))
      sums[row[place]!]! += inside[place]!;
  }
  return sums;
}

/** Whether a place is inside another one of its row: a layer that calls itself counts once. */
function isInsideOwnRow(place: number, parent: ArrayLike<number>, row: Int32Array): boolean {
  for (let at = parent[place]!; at >= 0; at = parent[at]!) {
    if (row[at] === row[place]) return true;
  }
  return false;
}

/** How many places of each row have a counted op anywhere inside them: calls of layers. */
export function placesWithOps(rows: TableRows, mask: Mask): Int32Array {
  const { parent, ofOp, row } = rows.places!;
  const hasOps = new Uint8Array(parent.length);
  for (let op = 0; op < ofOp.length; op++) {
    if (mask && !mask[op]) continue;
    for (let at = ofOp[op]!; at >= 0 && !hasOps[at]; at = parent[at]!) hasOps[at] = 1;
  }
  const counts = new Int32Array(rows.count);
  for (let place = 0; place < row.length; place++) {
    // Without a search, a layer that ran no op was called all the same.
    if (row[place]! >= 0 && (hasOps[place] || !mask)) counts[row[place]!]!++;
  }
  return counts;
}

/**
 * The time from begin to end of the ops of each row. What is inside another counted op of the same
 * row is in that one's time.
 */
export function sumTotals(
  rows: TableRows,
  total_ns: Float64Array,
  around: Int32Array,
  mask: Mask,
): Sums {
  const isCounted = (op: number): boolean => !mask || mask[op] === 1;
  const values = new Float64Array(rows.count);
  const known = new Int32Array(rows.count);
  let [total, totalKnown] = [0, 0];
  for (let op = 0; op < around.length; op++) {
    if (!isCounted(op)) continue;
    const row = rows.rowOf[op]!;
    let [isInRow, isInside] = [false, false];
    for (let at = around[op]!; at >= 0 && !isInRow; at = around[at]!) {
      if (!isCounted(at)) continue;
      isInside = true;
      isInRow = rows.rowOf[at] === row;
    }
    if (!isInside) total += total_ns[op]!;
    totalKnown++;
    if (row < 0) continue;
    known[row]!++;
    if (!isInRow) values[row]! += total_ns[op]!;
  }
  return { values, known, unknown: new Int32Array(rows.count), total, totalKnown, totalUnknown: 0 };
}
