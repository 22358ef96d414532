/** Rows grouped by a key, as two integer arrays ("compressed sparse rows"): no object a row. */

export class RowsByKey {
  /**
   * @param starts rows of key `k` are `rows[starts[k] … starts[k + 1]]`
   * @param rows row numbers, ascending within a key
   */
  private constructor(
    readonly starts: Int32Array,
    readonly rows: Int32Array,
  ) {}

  /**
   * @param keys one key a row; rows with a negative key are left out
   * @param keyCount keys run from 0 to this
   * @param keep which rows to index, all by default
   */
  static index(
    keys: ArrayLike<number>,
    keyCount: number,
    keep: (row: number) => boolean = () => true,
  ): RowsByKey {
    const starts = new Int32Array(keyCount + 1);
    for (let row = 0; row < keys.length; row++) {
      const key = keys[row]!;
      if (key >= 0 && keep(row)) {
        starts[key + 1]!++;
      }
    }
    for (let key = 0; key < keyCount; key++) {
      starts[key + 1]! += starts[key]!;
    }
    const rows = new Int32Array(starts[keyCount]!);
    const next = starts.slice(0, keyCount);
    for (let row = 0; row < keys.length; row++) {
      const key = keys[row]!;
      if (key >= 0 && keep(row)) {
        rows[next[key]!++] = row;
      }
    }
    return new RowsByKey(starts, rows);
  }

  of(key: number): Int32Array {
    return this.rows.subarray(this.starts[key]!, this.starts[key + 1]!);
  }
}
