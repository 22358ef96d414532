/** Compressed adjacency: the members of group k are list[start[k]] .. list[start[k + 1] - 1]. */

export interface Adjacency {
  start: Int32Array;
  list: Int32Array;
}

/** Group the indices 0 .. keys.length - 1 by their key (0 .. groupCount - 1), in order; omit negative keys. */
export function groupBy(keys: Int32Array, groupCount: number): Adjacency {
  const start = new Int32Array(groupCount + 1);
  for (let i = 0; i < keys.length; i++) if (keys[i]! >= 0) start[keys[i]! + 1]!++;
  for (let k = 0; k < groupCount; k++) start[k + 1]! += start[k]!;
  const list = new Int32Array(start[groupCount]!);
  const next = start.slice(0, groupCount);
  for (let i = 0; i < keys.length; i++) if (keys[i]! >= 0) list[next[keys[i]!]!++] = i;
  return { start, list };
}

/** Longer ranges use the built-in sort, whose start takes too long for short ranges. */
const SHORT = 24;

/** Sort ids[from .. to) by keys[id], stable. */
export function sortByKey(ids: Int32Array, from: number, to: number, keys: Float64Array): void {
  if (to - from > SHORT) {
    ids.subarray(from, to).sort((a, b) => keys[a]! - keys[b]! || 0);
    return;
  }
  for (let i = from + 1; i < to; i++) {
    const id = ids[i]!;
    const key = keys[id]!;
    let j = i - 1;
    while (j >= from && keys[ids[j]!]! > key) {
      ids[j + 1] = ids[j]!;
      j--;
    }
    ids[j + 1] = id;
  }
}
