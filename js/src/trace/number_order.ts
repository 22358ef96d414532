/** Sorts numbers without an object or a call for each row, and finds positions in sorted times. */

const PARTS = 8;
const PART_VALUES = 1 << 8;

/**
 * Positions of the numbers in ascending order. Equal numbers keep their order.
 *
 * @param numbers finite and not negative, because then their bits sort like the numbers
 */
export function numberOrder(numbers: Float64Array): Int32Array {
  const count = numbers.length;
  let order = new Int32Array(count);
  let isSorted = true;
  for (let i = 0; i < count; i++) {
    order[i] = i;
    isSorted &&= i === 0 || numbers[i]! >= numbers[i - 1]!;
  }
  if (isSorted) {
    return order;
  }
  // This is a radix sort: it sorts by one byte after the other, the lowest byte first. To compare
  // 100,000 numbers takes ten times as long.
  const bits = new Uint8Array(numbers.slice().buffer);
  let next = new Int32Array(count);
  for (let part = 0; part < PARTS; part++) {
    const starts = new Int32Array(PART_VALUES + 1);
    for (let at = part; at < bits.length; at += PARTS) {
      starts[bits[at]! + 1]!++;
    }
    if (starts[bits[part]! + 1] === count) {
      continue;
    }
    for (let value = 0; value < PART_VALUES; value++) {
      starts[value + 1]! += starts[value]!;
    }
    for (let i = 0; i < count; i++) {
      next[starts[bits[PARTS * order[i]! + part]!]!++] = order[i]!;
    }
    [order, next] = [next, order];
  }
  return order;
}

/** How many of the sorted times are at or before `time_ns`. */
export function countUntil(times_ns: Float64Array, time_ns: number): number {
  let low = 0;
  let high = times_ns.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times_ns[middle]! <= time_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** How many numbers in the sorted range `[from, until)` are less than `limit`. */
export function countBefore(
  sorted: ArrayLike<number>,
  limit: number,
  from = 0,
  until = sorted.length,
): number {
  let low = from;
  let high = until;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
