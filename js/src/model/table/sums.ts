/** Sums over the rows of a table. */

import type { Trace } from "../../trace/trace.ts";
import { parameterReads } from "../graph/parameter_reads.ts";
import type { Amounts } from "./amounts.ts";
import type { Places, TableRows } from "./table_rows.ts";

export interface Sums {
  /** For each row: the sum of the known values. */
  readonly values: Float64Array;
  /** For each row: how many items have a known value. */
  readonly known: Int32Array;
  /** For each row: how many items have an unknown value. */
  readonly unknown: Int32Array;
  /** The sum over all counted items. Each item counts once. */
  readonly total: number;
  readonly totalKnown: number;
  readonly totalUnknown: number;
}

type Join = (one: number, other: number) => number;

const add: Join = (one, other) => one + other;

/** Which items are counted; all if undefined. */
export type Mask = Uint8Array | undefined;

/**
 * @param isNested whether a row includes the rows inside it
 * @param join combines the values of two items; by default their sum
 */
export function sumRows(
  rows: TableRows,
  amounts: Amounts,
  mask: Mask,
  isNested: boolean,
  join: Join = add,
): Sums {
  const nesting = isNested ? rows.places : undefined;
  const bins = nesting ? nesting.parent.length : rows.count;
  const binOf = nesting ? nesting.ofItem : rows.rowOf;
  const values = new Float64Array(bins);
  const [known, unknown] = [new Int32Array(bins), new Int32Array(bins)];
  const { values: amountOf, unknown: missingOf } = amounts;
  const count = rows.rowOf.length;
  let [total, totalKnown, totalUnknown] = [0, 0, 0];
  for (let item = 0; item < count; item++) {
    if (mask && !mask[item]) continue;
    const amount = amountOf[item]!;
    const bin = binOf[item]!;
    if (amount >= 0) {
      total = join(total, amount);
      totalKnown++;
      if (bin >= 0) {
        values[bin] = join(values[bin]!, amount);
        known[bin]!++;
      }
    }
    const missing = missingOf ? missingOf[item]! : amount < 0 ? 1 : 0;
    if (!missing) continue;
    totalUnknown += missing;
    if (bin >= 0) unknown[bin]! += missing;
  }
  if (!nesting) return { values, known, unknown, total, totalKnown, totalUnknown };
  return {
    values: foldPlaces(nesting, values, new Float64Array(rows.count), join),
    known: foldPlaces(nesting, known, new Int32Array(rows.count), add),
    unknown: foldPlaces(nesting, unknown, new Int32Array(rows.count), add),
    total,
    totalKnown,
    totalUnknown,
  };
}

/** Convert sums over the items directly in each place into sums over all items inside each row. */
export function foldPlaces<T extends Float64Array | Int32Array>(
  { parent, row }: Places,
  inside: T,
  ofRows: T,
  join: Join,
): T {
  for (let place = inside.length - 1; place >= 0; place--) {
    const around = parent[place]!;
    if (around >= 0) inside[around] = join(inside[around]!, inside[place]!);
  }
  for (let place = 0; place < inside.length; place++) {
    const at = row[place]!;
    if (at >= 0 && inside[place] && !isInsideOwnRow(place, parent, row))
      ofRows[at] = join(ofRows[at]!, inside[place]!);
  }
  return ofRows;
}

/**
 * Whether a place is inside another place of the same row. A layer that calls itself counts once.
 */
function isInsideOwnRow(place: number, parent: ArrayLike<number>, row: Int32Array): boolean {
  for (let at = parent[place]!; at >= 0; at = parent[at]!) {
    if (row[at] === row[place]) return true;
  }
  return false;
}

/** How often each layer was called. With a mask, calls without counted items do not count. */
export function countCalls(rows: TableRows, mask: Mask): Float64Array {
  const { parent, ofItem, row } = rows.places!;
  const hasItems = new Uint8Array(parent.length).fill(mask ? 0 : 1);
  for (let item = 0; item < ofItem.length; item++) {
    if (!mask?.[item]) continue;
    for (let at = ofItem[item]!; at >= 0 && !hasItems[at]; at = parent[at]!) hasItems[at] = 1;
  }
  const counts = new Float64Array(rows.count);
  for (let place = 0; place < row.length; place++) {
    if (row[place]! >= 0 && hasItems[place]) counts[row[place]!]!++;
  }
  return counts;
}

/**
 * The parameters that the ops of each row read. Each counts once in a row.
 *
 * @param itemOf the item of each op
 * @param counted sums with the same rows and mask: the ops whose parameters are known
 */
export function sumParameters(
  trace: Trace,
  { rowOf, places, count }: TableRows,
  mask: Mask,
  itemOf: Int32Array,
  counted: Sums,
): { parameters: Sums; parameter_bytes: Sums } {
  const { ops, numbers, elements, bytes } = parameterReads(trace);
  const [counts, sizes] = [new Float64Array(count), new Float64Array(count)];
  const [seen, seenIn, all] = [new Set<number>(), new Set<number>(), new Set<number>()];
  const add = (row: number, parameter: number): void => {
    const pair = row * elements.length + parameter;
    if (row < 0 || seen.has(pair)) return;
    seen.add(pair);
    counts[row]! += elements[parameter]!;
    sizes[row]! += bytes[parameter]!;
  };
  numbers.forEach((parameter, read) => {
    const item = itemOf[ops[read]!]!;
    if (item < 0 || (mask && !mask[item])) return;
    all.add(parameter);
    if (!places) add(rowOf[item]!, parameter);
    for (let at = places?.ofItem[item] ?? -1; at >= 0; at = places!.parent[at]!) {
      const pair = at * elements.length + parameter;
      if (seenIn.has(pair)) break;
      seenIn.add(pair);
      add(places!.row[at]!, parameter);
    }
  });
  const of = (values: Float64Array, each: readonly number[]): Sums => {
    const total = [...all].reduce((sum, parameter) => sum + each[parameter]!, 0);
    return { ...counted, values, total };
  };
  return { parameters: of(counts, elements), parameter_bytes: of(sizes, bytes) };
}
