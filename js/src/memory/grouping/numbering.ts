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
