/** Compressed adjacency: the members of group k are list[start[k]] .. list[start[k + 1] - 1]. */

export interface Adjacency {
  start: Int32Array;
  list: Int32Array;
}

/** Group the indices 0 .. keys.length - 1 by their key (0 .. groupCount - 1), in order; negative keys are left out. */
export function groupBy(keys: Int32Array, groupCount: number): Adjacency {
  const start = new Int32Array(groupCount + 1);
  for (let i = 0; i < keys.length; i++) if (keys[i]! >= 0) start[keys[i]! + 1]!++;
  for (let k = 0; k < groupCount; k++) start[k + 1]! += start[k]!;
  const list = new Int32Array(start[groupCount]!);
  const next = start.slice(0, groupCount);
  for (let i = 0; i < keys.length; i++) if (keys[i]! >= 0) list[next[keys[i]!]!++] = i;
  return { start, list };
}

/** Sort ids[from .. to) by keys[id], stable, without recursion; `spare` is at least as long as `ids`. */
export function sortByKey(
  ids: Int32Array,
  from: number,
  to: number,
  keys: Float64Array,
  spare: Int32Array,
): void {
  const run = 12;
  for (let low = from; low < to; low += run) {
    const high = Math.min(low + run, to);
    for (let i = low + 1; i < high; i++) {
      const id = ids[i]!;
      const key = keys[id]!;
      let j = i - 1;
      while (j >= low && keys[ids[j]!]! > key) {
        ids[j + 1] = ids[j]!;
        j--;
      }
      ids[j + 1] = id;
    }
  }
  for (let width = run; width < to - from; width *= 2) {
    for (let low = from; low < to; low += 2 * width) {
      const middle = Math.min(low + width, to);
      const high = Math.min(low + 2 * width, to);
      let left = low;
      let right = middle;
      for (let k = low; k < high; k++) {
        const takeLeft =
          left < middle && (right >= high || keys[ids[left]!]! <= keys[ids[right]!]!);
        spare[k] = takeLeft ? ids[left++]! : ids[right++]!;
      }
    }
    ids.set(spare.subarray(from, to), from);
  }
}
