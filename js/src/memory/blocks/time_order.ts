/** Sorts by time without an object or a call a row: a million moments take some tens of ms. */

/** Of times that are nearly sorted each passes no more than so many others on the average. */
const NEARLY = 4;
/** So many may be passed before that is looked at. */
const FIRST_PASSED = 1000;
/** So many times share a place on the average, before they are sorted there. */
const PER_PLACE = 4;
/** Where more do, as in a burst, they are spread out once more. */
const MOST_PER_PLACE = 64;

/**
 * Positions of `times_ns` from the earliest on; equal times keep their order.
 *
 * @param times_ns finite
 */
export function timeOrder(times_ns: Float64Array): Int32Array {
  return nearlySorted(times_ns) ?? spreadOut(times_ns);
}

/** The order of times that are nearly sorted, as ends of short lives are; undefined if they are not. */
function nearlySorted(times_ns: Float64Array): Int32Array | undefined {
  const sorted_ns = times_ns.slice();
  const order = new Int32Array(times_ns.length);
  let allowed = FIRST_PASSED;
  for (let i = 1; i < order.length; i++) {
    const time_ns = sorted_ns[i]!;
    let to = i;
    const least = Math.max(0, i - allowed - NEARLY);
    for (; to > least && sorted_ns[to - 1]! > time_ns; to--) {
      sorted_ns[to] = sorted_ns[to - 1]!;
      order[to] = order[to - 1]!;
    }
    allowed += NEARLY - (i - to);
    if (allowed <= 0) {
      return undefined;
    }
    sorted_ns[to] = time_ns;
    order[to] = i;
  }
  return order;
}

function spreadOut(times_ns: Float64Array): Int32Array {
  const order = new Int32Array(times_ns.length);
  for (let i = 0; i < order.length; i++) {
    order[i] = i;
  }
  // Those that are to be sorted further: each round spreads a part over places of its own.
  const parts: (readonly [first: number, end: number])[] = [[0, order.length]];
  for (let part = parts.pop(); part; part = parts.pop()) {
    spread(times_ns, order, part[0], part[1], parts);
  }
  return order;
}

/** Sort `order[first … end)`, but for the crowded places, which are added to `parts`. */
function spread(
  times_ns: Float64Array,
  order: Int32Array,
  first: number,
  end: number,
  parts: (readonly [first: number, end: number])[],
): void {
  const count = end - first;
  // In the first round positions are still 0, 1, 2, …: of a million, copies of them take their time.
  const isWhole = count === order.length;
  const times = isWhole ? times_ns : new Float64Array(count);
  let least_ns = Infinity;
  let most_ns = -Infinity;
  let isSorted = true;
  for (let i = 0; i < count; i++) {
    const time_ns = times_ns[isWhole ? i : order[first + i]!]!;
    if (!isWhole) times[i] = time_ns;
    if (time_ns < most_ns) isSorted = false;
    if (time_ns < least_ns) least_ns = time_ns;
    if (time_ns > most_ns) most_ns = time_ns;
  }
  if (isSorted) {
    return;
  }
  const placeCount = Math.max(2, Math.ceil(count / PER_PLACE));
  const scale = (placeCount - 1) / (most_ns - least_ns);
  const starts = new Int32Array(placeCount + 1);
  for (let i = 0; i < count; i++) {
    starts[(((times[i]! - least_ns) * scale) | 0) + 1]!++;
  }
  for (let place = 0; place < placeCount; place++) {
    starts[place + 1]! += starts[place]!;
  }
  const from = isWhole ? order : order.slice(first, end);
  const sorted_ns = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const to = starts[((times[i]! - least_ns) * scale) | 0]!++;
    sorted_ns[to] = times[i]!;
    order[first + to] = isWhole ? i : from[i]!;
  }
  // Each start is now where its place ends.
  for (let place = 0, begin = 0; place < placeCount; begin = starts[place++]!) {
    if (starts[place]! - begin > MOST_PER_PLACE) {
      parts.push([first + begin, first + starts[place]!]);
    } else {
      insert(sorted_ns, order, first, begin, starts[place]!);
    }
  }
}

/** Sort a few times that are nearly sorted, and their positions with them. */
function insert(
  sorted_ns: Float64Array,
  order: Int32Array,
  first: number,
  begin: number,
  end: number,
): void {
  for (let i = begin + 1; i < end; i++) {
    const time_ns = sorted_ns[i]!;
    const position = order[first + i]!;
    let to = i;
    for (; to > begin && sorted_ns[to - 1]! > time_ns; to--) {
      sorted_ns[to] = sorted_ns[to - 1]!;
      order[first + to] = order[first + to - 1]!;
    }
    sorted_ns[to] = time_ns;
    order[first + to] = position;
  }
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

/** How many of the sorted times, of `[from, until)` of them, are before `time_ns`. */
export function countBefore(
  times_ns: Float64Array,
  time_ns: number,
  from = 0,
  until = times_ns.length,
): number {
  let low = from;
  let high = until;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times_ns[middle]! < time_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
