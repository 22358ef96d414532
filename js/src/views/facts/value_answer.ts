/** What the kernel tells about the value of an op's output. */

export interface ValueAnswer {
  readonly shape: readonly number[];
  readonly dtype: string;
  /** What the value was compared with. */
  readonly check: string;
  readonly elements: number;
  readonly zeros: number;
  readonly nans: number;
  readonly infs: number;
  /** Smallest, largest, mean and standard deviation of the finite values; null without any. */
  readonly statistics: readonly [number, number, number, number] | null;
  /** Exponent, negative count and positive count. */
  readonly bins: readonly (readonly [number, number, number])[];
  /** How many slices of the last two axes there are, and which one this is. */
  readonly slices: number;
  readonly slice: number;
  /** The slice's place on the other axes. */
  readonly index: readonly number[];
  /** Rows and columns of a slice. */
  readonly plane: readonly [number, number];
  /** The slice's first rows and columns. Text stands for what is no finite number. */
  readonly rows: readonly (readonly (number | boolean | string)[])[];
}

/** Asks the kernel for one slice and the statistics of an op's output. */
export type AskValue = (op: number, output: number, slice: number) => Promise<ValueAnswer>;
