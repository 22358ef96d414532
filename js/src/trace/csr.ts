/** Rows grouped by a key, as two integer arrays ("compressed sparse rows"): no object per row. */

/** Selects the rows to index: those with this value in a column. */
export interface RowsWith {
  readonly column: ArrayLike<number>;
  readonly value: number;
}

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
   * @param keys one key per row; rows with a negative key are left out
   * @param keyCount keys run from 0 to this
   * @param only which rows to index, all by default
   */
  static index(keys: ArrayLike<number>, keyCount: number, only?: RowsWith): RowsByKey {
    const shown = only ? keysOf(keys, only) : keys;
    // Count into the next entry, so that filling in the rows moves each start to its final value.
    const starts = new Int32Array(keyCount + 2);
    for (let row = 0; row < shown.length; row++) {
      if (shown[row]! >= 0) {
        starts[shown[row]! + 2]!++;
      }
    }
    for (let key = 1; key <= keyCount; key++) {
      starts[key + 1]! += starts[key]!;
    }
    const rows = new Int32Array(starts[keyCount + 1]!);
    for (let row = 0; row < shown.length; row++) {
      const key = shown[row]!;
      if (key >= 0) {
        rows[starts[key + 1]!++] = row;
      }
    }
    return new RowsByKey(starts.subarray(0, keyCount + 1), rows);
  }

  of(key: number): Int32Array {
    return this.rows.subarray(this.starts[key]!, this.starts[key + 1]!);
  }
}

/** The keys, with -1 for rows that are left out. */
function keysOf(keys: ArrayLike<number>, { column, value }: RowsWith): Int32Array {
  const shown = new Int32Array(keys.length);
  for (let row = 0; row < shown.length; row++) {
    shown[row] = column[row] === value ? keys[row]! : -1;
  }
  return shown;
}
