/** An index of blocks by when they end, how large they are and how long they live. */

const CHUNK_BITS = 6;
const CHUNK = 1 << CHUNK_BITS;

/** What is true of some blocks that follow each other: an upper bound of each of them. */
interface Bounds {
  readonly end_ns: Float64Array;
  readonly bytes: Float64Array;
  readonly life_ns: Float64Array;
}

/** Of each 64 blocks by start, and of each 64 of those. */
export interface AliveBounds {
  readonly chunks: Bounds;
  readonly stretches: Bounds;
}

export function aliveBounds(
  start_ns: Float64Array,
  end_ns: Float64Array,
  bytes: Float64Array,
): AliveBounds {
  const count = Math.ceil(start_ns.length / CHUNK);
  const chunks = noBounds(count);
  for (let chunk = 0; chunk < count; chunk++) {
    // Of a million blocks, to look up what is known of their chunk for each would be most of the work.
    let last_ns = -Infinity;
    let most_bytes = -Infinity;
    let longest_ns = -Infinity;
    const end = Math.min(start_ns.length, (chunk + 1) << CHUNK_BITS);
    for (let block = chunk << CHUNK_BITS; block < end; block++) {
      const stop_ns = end_ns[block]!;
      const life_ns = stop_ns - start_ns[block]!;
      if (stop_ns > last_ns) last_ns = stop_ns;
      if (life_ns > longest_ns) longest_ns = life_ns;
      if (bytes[block]! > most_bytes) most_bytes = bytes[block]!;
    }
    raise(chunks, chunk, last_ns, most_bytes, longest_ns);
  }
  const stretches = noBounds(Math.ceil(count / CHUNK));
  for (let chunk = 0; chunk < count; chunk++) {
    const stretch = chunk >> CHUNK_BITS;
    const { end_ns: ends, bytes: sizes, life_ns: lives } = chunks;
    raise(stretches, stretch, ends[chunk]!, sizes[chunk]!, lives[chunk]!);
  }
  return { chunks, stretches };
}

/** Finds blocks without looking at each of them. */
export class AliveIndex {
  constructor(readonly bounds: AliveBounds) {}

  /**
   * Where to look for blocks, of the first `count`, that end after `after_ns`, are that large and
   * live that long: calls `look` with ranges of blocks, in order; all such blocks are in one of them.
   */
  search(
    count: number,
    wanted: { after_ns: number; least_bytes: number; least_ns: number },
    look: (first: number, end: number) => void,
  ): void {
    const { after_ns, least_bytes, least_ns } = wanted;
    const { chunks, stretches } = this.bounds;
    const mayHave = ({ end_ns, bytes, life_ns }: Bounds, at: number): boolean =>
      end_ns[at]! > after_ns && bytes[at]! >= least_bytes && life_ns[at]! >= least_ns;
    const chunkCount = Math.ceil(count / CHUNK);
    for (let stretch = 0; stretch * CHUNK < chunkCount; stretch++) {
      if (!mayHave(stretches, stretch)) {
        continue;
      }
      const end = Math.min(chunkCount, (stretch + 1) * CHUNK);
      for (let chunk = stretch * CHUNK; chunk < end; chunk++) {
        if (mayHave(chunks, chunk)) {
          look(chunk * CHUNK, Math.min(count, (chunk + 1) * CHUNK));
        }
      }
    }
  }
}

function noBounds(count: number): Bounds {
  const column = (): Float64Array => new Float64Array(count).fill(-Infinity);
  return { end_ns: column(), bytes: column(), life_ns: column() };
}

function raise(bounds: Bounds, at: number, end_ns: number, bytes: number, life_ns: number): void {
  if (end_ns > bounds.end_ns[at]!) bounds.end_ns[at] = end_ns;
  if (bytes > bounds.bytes[at]!) bounds.bytes[at] = bytes;
  if (life_ns > bounds.life_ns[at]!) bounds.life_ns[at] = life_ns;
}
