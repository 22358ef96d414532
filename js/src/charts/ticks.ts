/** Round numbers along an axis. */

/**
 * Multiples of a power of two, such as 256 KiB or 1.5 GiB.
 *
 * @param count about how many
 */
export function byteTicks(from_bytes: number, to_bytes: number, count: number): number[] {
  const step = 2 ** Math.max(0, Math.round(Math.log2((to_bytes - from_bytes) / count)));
  return multiples(step, from_bytes, to_bytes);
}

export function multiples(step: number, from: number, to: number): number[] {
  const [first, last] = [Math.ceil(from / step), Math.floor(to / step)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * step);
}
