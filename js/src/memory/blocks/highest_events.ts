/** Where the running total was highest, of any range of events, without looking at each of them. */

const CHUNK = 64;

/** The highest event of each 64, of each 64 of those, and so on. */
export class HighestEvents {
  /**
   * @param levels by level: of each chunk the highest event, -1 where none counts; found out where
   *   they are not given
   */
  constructor(
    readonly times_ns: Float64Array,
    readonly total_bytes: Float64Array,
    readonly levels: Int32Array[] = [],
  ) {
    let length = levels.at(-1)?.length ?? times_ns.length;
    while (length > CHUNK) {
      const below = this.levels.at(-1);
      const level = new Int32Array(Math.ceil(length / CHUNK));
      for (let chunk = 0; chunk < level.length; chunk++) {
        const end = Math.min(length, (chunk + 1) * CHUNK);
        level[chunk] = below
          ? this.#highestOf(below, chunk * CHUNK, end, -1)
          : this.#highestEvent(chunk * CHUNK, end, -1);
      }
      this.levels.push(level);
      length = level.length;
    }
  }

  /**
   * The first of the highest events in `[first, end)`, -1 where there is none. Of several in one
   * moment the last alone counts: it tells what was alive then.
   */
  within(first: number, end: number): number {
    return this.#within(first, end, 0);
  }

  /** @param level 0 for events, above them the chunks of a level */
  #within(first: number, end: number, level: number): number {
    const whole = this.levels[level];
    const [from, until] = [Math.ceil(first / CHUNK), Math.floor(end / CHUNK)];
    if (!whole || until <= from) {
      return this.#look(first, end, level, -1);
    }
    const before = this.#look(first, from * CHUNK, level, -1);
    const inside = this.#better(before, this.#within(from, until, level + 1));
    return this.#look(until * CHUNK, end, level, inside);
  }

  #look(first: number, end: number, level: number, best: number): number {
    return level === 0
      ? this.#highestEvent(first, end, best)
      : this.#highestOf(this.levels[level - 1]!, first, end, best);
  }

  #highestEvent(first: number, end: number, known: number): number {
    const { times_ns, total_bytes } = this;
    let best = known;
    for (let at = first; at < end; at++) {
      if (
        (best < 0 || total_bytes[at]! > total_bytes[best]!) &&
        // Past the last event there is no time, which equals none.
        times_ns[at + 1] !== times_ns[at]
      ) {
        best = at;
      }
    }
    return best;
  }

  #highestOf(events: Int32Array, first: number, end: number, known: number): number {
    let best = known;
    for (let at = first; at < end; at++) {
      best = this.#better(best, events[at]!);
    }
    return best;
  }

  /** @param a the earlier of the two */
  #better(a: number, b: number): number {
    return a < 0 || (b >= 0 && this.total_bytes[b]! > this.total_bytes[a]!) ? b : a;
  }
}
