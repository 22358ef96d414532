/** Values that the kernel computes again: questions about them, and its answers. */

/** An op's output, or the gradient that a grad node gets in a backward call (-1: its first). */
export type Subject = readonly [of: "op" | "grad_node", key: number, output: number, call: number];

export interface ValueStatistics {
  readonly shape: readonly number[];
  readonly dtype: string;
  /** A sentence that says with what the value was compared. */
  readonly check: string;
  /** The line of Python that returns the value. */
  readonly line: string;
  readonly elements: number;
  readonly zeros: number;
  readonly nans: number;
  readonly infs: number;
  /** Smallest, largest, mean and standard deviation of the finite values; null without any. */
  readonly statistics: readonly [number, number, number, number] | null;
  /** The bins of the histogram: exponent of 2, count of negative and of positive values. */
  readonly bins: readonly (readonly [number, number, number])[];
}

/** A value's statistics, and one slice. A slice has the last two axes. */
export interface Value extends ValueStatistics {
  /** The shape, with at least two axes. */
  readonly axes: readonly number[];
  /** The slice's place on each axis; on the last two, where `cells` begin. */
  readonly position: readonly number[];
  /** Some rows and columns. Values without an exact finite number are text. */
  readonly cells: readonly (readonly (number | string)[])[];
  /** How many rows and columns one pixel of the heat map shows, as their mean. */
  readonly steps: readonly [number, number];
  /** Rows and columns of the heat map. */
  readonly pixels: readonly [number, number];
  /** How the slice is seen as an image; null if it does not look like one. */
  readonly image: ImageFacts | null;
  readonly heat: Float64Array<ArrayBuffer>;
  /** The image's channels, one after the other. */
  readonly channels: Float64Array<ArrayBuffer>;
}

interface ImageFacts {
  /** The axis of the channels, and how many there are. */
  readonly axis: number;
  readonly channels: number;
  /** Whether `ends` are the tensor's smallest and largest value. */
  readonly is_scaled: boolean;
  /** The values that are black and white. */
  readonly ends: readonly [number, number];
  readonly pixels: readonly [number, number];
}

export interface Watch {
  /** Cancels. */
  readonly signal: AbortSignal;
  /** Is told how many of how many ops have run. */
  progress(done: number, of: number): void;
}

/** The kernel, which knows values. */
export interface ValueSource {
  /** @returns each subject's value; for two of one shape also their difference */
  ask(subjects: readonly Subject[], position: readonly number[], watch: Watch): Promise<Value[]>;
  /** The whole value as an .npy file. */
  file(subject: Subject): Promise<Blob>;
}

/** What a panel's pages of values have in common. */
export interface ValueBench {
  /** Undefined without a kernel. */
  readonly source: ValueSource | undefined;
  /** The value beside which others are shown. */
  pinned?: NamedSubject | undefined;
  /** This value is shown as soon as its page is. */
  opens?: Subject | undefined;
  isImage: boolean;
  areNumbersOpen?: boolean;
}

export interface NamedSubject {
  readonly subject: Subject;
  /** "relu #3". */
  readonly name: string;
  /** The recorded dtype; "" if it is not known. */
  readonly dtype: string;
}
