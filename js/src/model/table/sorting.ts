/** The order of a table's rows. */

/** How many values a digit has in the radix sort. */
const DIGITS = 2 ** 12;

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
 * Sort rows by numbers. Equal rows keep their order. It is a radix sort, because comparing 100,000
 * rows takes ten times as long.
 *
 * @param rows changed in place
 * @param keys one per row: integers from 0, or NaN, which comes last in both directions
 */
export function sortRows(rows: Int32Array, keys: Float64Array, isDown: boolean): Int32Array {
  let most = 0;
  let count = 0;
  for (const row of rows) {
    if (keys[row]! > most) most = keys[row]!;
    count += Number(keys[row]! >= 0);
  }
  const sorted = new Int32Array(rows.length);
  let [known, rest] = [0, count];
  for (const row of rows) sorted[keys[row]! >= 0 ? known++ : rest++] = row;
  let from = sorted.subarray(0, count);
  let into = new Int32Array(count);
  const begins = new Int32Array(DIGITS + 1);
  for (let unit = 1; unit <= most; unit *= DIGITS) {
    begins.fill(0);
    const digitOf = (row: number): number =>
      Math.floor((isDown ? most - keys[row]! : keys[row]!) / unit) % DIGITS;
    for (const row of from) begins[digitOf(row) + 1]!++;
    for (let digit = 0; digit < DIGITS; digit++) begins[digit + 1]! += begins[digit]!;
    for (const row of from) into[begins[digitOf(row)]!++] = row;
    [from, into] = [into, from];
  }
  sorted.set(from);
  return sorted;
}
