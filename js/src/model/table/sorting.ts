/** The order of a table's rows. */

export interface Sorting<Column extends string> {
  readonly by: Column;
  readonly isDown: boolean;
}

/** The order after a press on a column: numbers from the largest, texts from the first. */
export function sortedBy<Column extends string>(
  { by, isDown }: Sorting<Column>,
  pressed: Column,
  isText: boolean,
): Sorting<Column> {
  return { by: pressed, isDown: pressed === by ? !isDown : !isText };
}

/** Sorts as people count: "matmul #9" before "matmul #10". A collator does it at 20 times the time. */
export function nameKey(label: string): string {
  return label.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, "0"));
}

/** The place of each text among all, by `nameKey`; equal texts share a place. */
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
 * Rows in the order of a number of each; equal ones keep their order.
 *
 * @param rows sorted
 * @param keys by row; NaN is last in both directions
 */
export function sortRows(rows: Int32Array, keys: Float64Array, isDown: boolean): Int32Array {
  const known = rows.filter((row) => !Number.isNaN(keys[row]!));
  const rest = rows.filter((row) => Number.isNaN(keys[row]!));
  const sign = isDown ? -1 : 1;
  known.sort((a, b) => sign * (keys[a]! - keys[b]!) || a - b);
  const sorted = new Int32Array(rows.length);
  sorted.set(known);
  sorted.set(rest, known.length);
  return sorted;
}
