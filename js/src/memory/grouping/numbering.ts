/** Numbers for keys, by arrays: a million look-ups in a Map take too long. */

/** Numbers keys, from -1 on, in the order in which they are met. */
export class Numbers {
  readonly keys: number[] = [];
  readonly #numbers: Int32Array;

  constructor(keyCount: number) {
    this.#numbers = new Int32Array(keyCount + 1).fill(-1);
  }

  of(key: number): number {
    const known = this.#numbers[key + 1]!;
    if (known >= 0) {
      return known;
    }
    this.#numbers[key + 1] = this.keys.length;
    return this.keys.push(key) - 1;
  }
}

/** A function of keys, from -1 on, that computes nothing twice; it gives no negative number. */
export function remembered(
  keyCount: number,
  compute: (key: number) => number,
): (key: number) => number {
  const known = new Int32Array(keyCount + 1).fill(-1);
  return (key) => {
    if (known[key + 1]! < 0) {
      known[key + 1] = compute(key);
    }
    return known[key + 1]!;
  };
}
