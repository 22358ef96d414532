/** The order of a table's rows. */

import { numberOrder } from "../../trace/number_order.ts";

export interface Sorting<Column extends string> {
  readonly by: Column;
  readonly isDown: boolean;
}

/** The order after a click on a column: numbers from the largest, texts from the first. */
export function sortedBy<Column extends string>(
  { by, isDown }: Sorting<Column>,
  pressed: Column,
  isText: boolean,
): Sorting<Column> {
  return { by: pressed, isDown: pressed === by ? !isDown : !isText };
}

/**
 * A key that sorts numbers in names by value: "matmul #9" before "matmul #10". A collator takes 20
 * times as long.
 */
export function nameKey(label: string): string {
  return label.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, "0"));
}

/** The rank of each text by `nameKey`. Equal texts have the same rank. */
export function ranksOf(texts: readonly string[]): Float64Array {
  const keys = texts.map(nameKey);
  const order = [...keys.keys()].sort((a, b) => compare(keys[a]!, keys[b]!));
  const ranks = new Float64Array(texts.length);
  order.forEach((at, place) => {
    const before = order[place - 1];
    ranks[at] = before !== undefined && keys[before] === keys[at] ? ranks[before]! : place;
  });
  return ranks;
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Sort rows by numbers. Equal rows keep their order.
 *
 * @param keys one per row: numbers from 0, or NaN, which comes last in both directions
 */
export function sortRows(rows: Int32Array, keys: Float64Array, isDown: boolean): Int32Array {
  const known = rows.filter((row) => keys[row]! >= 0);
  const most = known.reduce((largest, row) => Math.max(largest, keys[row]!), 0);
  const numbers = Float64Array.from(known, (row) => (isDown ? most - keys[row]! : keys[row]!));
  const sorted = new Int32Array(rows.length);
  sorted.set(numberOrder(numbers).map((at) => known[at]!));
  sorted.set(
    rows.filter((row) => !(keys[row]! >= 0)),
    known.length,
  );
  return sorted;
}
