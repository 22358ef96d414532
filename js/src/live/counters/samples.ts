/** The samples that the page stores. It stores as many as the kernel: enough for seven days. */

/** How many samples, bins of a second and bins of a minute are stored. */
const CAPACITY = [6000, 7200, 10_080] as const;
/** How many ms a row of each tier covers; 0 for a sample. */
const WIDTH_MS = [0, 1000, 60_000] as const;
/** If two samples are farther apart, there is a gap: something blocked the interpreter. */
const GAP_MS = 250;

export type Tiers = readonly (readonly Float64Array[])[];

interface Gap {
  readonly start_ms: number;
  readonly end_ms: number;
}

/**
 * The points of a step chart, the oldest first. A value holds until the next time; NaN means no
 * value.
 */
export interface Series {
  readonly times_ms: number[];
  /** One array per counter. */
  readonly values: number[][];
  readonly gaps: Gap[];
}

export class Samples {
  #tiers: Float64Array[][] = CAPACITY.map(() => []);

  get first_ms(): number | undefined {
    const starts = this.#tiers.flatMap((rows) => (rows[0] ? [rows[0][0]!] : []));
    return starts.length > 0 ? Math.min(...starts) : undefined;
  }

  get last_ms(): number | undefined {
    return this.#tiers[0]!.at(-1)?.[0];
  }

  append(tiers: Tiers): void {
    for (const [index, rows] of tiers.entries()) {
      const kept = this.#tiers[index];
      if (kept === undefined) continue;
      const last_ms = kept.at(-1)?.[0] ?? Number.NEGATIVE_INFINITY;
      // Some rows of a history may have arrived before, in a batch.
      for (const row of rows) if (row[0]! > last_ms) kept.push(row);
      // Drop many rows at once, so that the others do not move each time.
      const capacity = CAPACITY[index]!;
      if (kept.length > capacity * 1.1) kept.splice(0, kept.length - capacity);
    }
  }

  /** Replace the rows by a history, but keep rows that are newer. */
  replace(tiers: Tiers): void {
    const newer = this.#tiers;
    this.#tiers = CAPACITY.map(() => []);
    this.append(tiers);
    this.append(newer);
  }

  /** The newest values; NaN for a missing value. */
  latest(counters: number): number[] {
    const row = this.#tiers[0]!.at(-1);
    return Array.from({ length: counters }, (_, counter) => counted(row, counter, 0));
  }

  /** The values at a time; NaN for a missing value. */
  at(time_ms: number, counters: number): number[] {
    const tier = this.#tierFor(time_ms);
    const rows = this.#tiers[tier]!;
    const row = rows[firstAfter(rows, time_ms) - 1];
    return Array.from({ length: counters }, (_, counter) => counted(row, counter, tier));
  }

  /** The points to draw for a span of time, from the finest tier that has the begin of the span. */
  series(start_ms: number, end_ms: number, counters: number): Series {
    const times_ms: number[] = [];
    const values: number[][] = Array.from({ length: counters }, () => []);
    const gaps: Gap[] = [];
    let held_until_ms: number | undefined;
    const put = (time_ms: number, row: Float64Array | undefined, tier: number): void => {
      times_ms.push(time_ms);
      for (let counter = 0; counter < counters; counter++) {
        values[counter]!.push(counted(row, counter, tier));
      }
    };
    // From coarse to fine, because the newest samples are not in bins yet.
    for (let tier = this.#tierFor(start_ms, end_ms - start_ms); tier >= 0; tier--) {
      const rows = this.#tiers[tier]!;
      const width_ms = WIDTH_MS[tier]!;
      const from = held_until_ms ?? start_ms;
      let index = held_until_ms === undefined ? firstAfter(rows, from) - 1 : firstFrom(rows, from);
      for (index = Math.max(index, 0); index < rows.length; index++) {
        const row = rows[index]!;
        const time_ms = row[0]!;
        if (time_ms > end_ms) break;
        if (held_until_ms !== undefined && time_ms - held_until_ms > GAP_MS) {
          gaps.push({ start_ms: held_until_ms, end_ms: time_ms });
          put(held_until_ms, undefined, tier);
        }
        put(time_ms, row, tier);
        held_until_ms = time_ms + width_ms;
      }
    }
    return { times_ms, values, gaps };
  }

  #tierFor(start_ms: number, span_ms = 0): number {
    const reaches = (tier: number): boolean =>
      (this.#tiers[tier]![0]?.[0] ?? Number.POSITIVE_INFINITY) <= start_ms;
    // If no tier has the begin of the span, use the coarsest tier that has rows.
    const whole = this.#tiers[0]!.length < CAPACITY[0];
    if (span_ms <= 150_000 && (whole || reaches(0))) return 0;
    if (span_ms <= 7_500_000 && (reaches(1) || this.#tiers[1]!.length < CAPACITY[1])) return 1;
    return 2;
  }
}

function counted(row: Float64Array | undefined, counter: number, tier: number): number {
  // Use the maximum of a bin, so that no peak is lost.
  const value = row?.[tier === 0 ? 1 + counter : 2 + 2 * counter];
  return value === undefined || value < 0 ? Number.NaN : value;
}

/** Position of the first row after a time. */
function firstAfter(rows: readonly Float64Array[], time_ms: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]![0]! > time_ms) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Position of the first row at a time or after it. */
function firstFrom(rows: readonly Float64Array[], time_ms: number): number {
  let position = firstAfter(rows, time_ms);
  while (position > 0 && rows[position - 1]![0]! >= time_ms) position--;
  return position;
}
