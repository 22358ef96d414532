/** The kernel's answer about the value of an op's output. */

export interface ValueAnswer {
  readonly shape: readonly number[];
  readonly dtype: string;
  /** A sentence that says with what the value was compared. */
  readonly check: string;
  readonly elements: number;
  readonly zeros: number;
  readonly nans: number;
  readonly infs: number;
  /** Smallest, largest, mean and standard deviation of the finite values; null without any. */
  readonly statistics: readonly [number, number, number, number] | null;
  /** The bins of the histogram: exponent of 2, count of negative and of positive values. */
  readonly bins: readonly (readonly [number, number, number])[];
  /** A slice has the last two axes. This is the number of slices; `slice` is the shown one. */
  readonly slices: number;
  readonly slice: number;
  /** The position of the slice on the other axes. */
  readonly index: readonly number[];
  /** How many rows and columns a slice has. */
  readonly plane: readonly [number, number];
  /** The first rows and columns of the slice. Values without a finite number are text. */
  readonly rows: readonly (readonly (number | boolean | string)[])[];
}

/** Asks the kernel for one slice and the statistics of an op's output. */
export type AskValue = (op: number, output: number, slice: number) => Promise<ValueAnswer>;
