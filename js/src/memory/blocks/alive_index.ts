/** An index of blocks by when they end, how large they are and how long they live. */

/** So many blocks that follow each other are looked up together. */
const CHUNK = 64;

/** An upper bound for each 64 blocks by start. */
export interface AliveBounds {
  readonly end_ns: Float64Array;
  readonly bytes: Float64Array;
  readonly life_ns: Float64Array;
}

export function aliveBounds(
  start_ns: Float64Array,
  end_ns: Float64Array,
  bytes: Float64Array,
): AliveBounds {
  const count = Math.ceil(start_ns.length / CHUNK);
  const column = (): Float64Array => new Float64Array(count);
  const bounds = { end_ns: column(), bytes: column(), life_ns: column() };
  for (let chunk = 0; chunk < count; chunk++) {
    // Of a million blocks, to look up what is known of their chunk for each would be most of the work.
    let last_ns = -Infinity;
    let most_bytes = -Infinity;
    let longest_ns = -Infinity;
    const end = Math.min(start_ns.length, (chunk + 1) * CHUNK);
    for (let block = chunk * CHUNK; block < end; block++) {
      const stop_ns = end_ns[block]!;
      const life_ns = stop_ns - start_ns[block]!;
      if (stop_ns > last_ns) last_ns = stop_ns;
      if (life_ns > longest_ns) longest_ns = life_ns;
      if (bytes[block]! > most_bytes) most_bytes = bytes[block]!;
    }
    bounds.end_ns[chunk] = last_ns;
    bounds.bytes[chunk] = most_bytes;
    bounds.life_ns[chunk] = longest_ns;
  }
  return bounds;
}

/**
 * Where to look for blocks, of the first `count`, that end after `after_ns`, are that large and live
 * that long: calls `look` with ranges of blocks, in order; all such blocks are in one of them.
 */
export function searchAlive(
  { end_ns, bytes, life_ns }: AliveBounds,
  count: number,
  wanted: { after_ns: number; least_bytes: number; least_ns: number },
  look: (first: number, end: number) => void,
): void {
  const { after_ns, least_bytes, least_ns } = wanted;
  for (let chunk = 0; chunk * CHUNK < count; chunk++) {
    const isLarge = bytes[chunk]! >= least_bytes && life_ns[chunk]! >= least_ns;
    if (isLarge && end_ns[chunk]! > after_ns) {
      look(chunk * CHUNK, Math.min(count, (chunk + 1) * CHUNK));
    }
  }
}
