/** The messages between the live chart and its kernel; mirrors `paddle_lab/sampling/batch.py`. */

export interface Counter {
  readonly name: string;
  readonly device: string;
  readonly source: string;
  readonly unit: "bytes" | "percent";
  /** The largest possible value, 0 if unknown. */
  readonly limit: number;
  /** Why the counter has no values, "" if it has values. */
  readonly absence: string;
}

/**
 * Start and end in ms since the sampler was made, and what ran. An end of `null` means that it is
 * still running.
 */
export type Span = readonly [start_ms: number, end_ms: number | null, label: string];

export interface BatchMessage {
  /** `history` has all stored rows, `batch` only new rows. */
  readonly kind: "batch" | "history";
  /**
   * The number of rows in each tier (samples, bins of a second, bins of a minute). Each tier has a
   * buffer of float64.
   */
  readonly rows: readonly number[];
  readonly cells: readonly Span[];
  readonly layers: readonly Span[];
  /** All counters, if they have changed. */
  readonly counters?: readonly Counter[];
}

export type MessageFromKernel =
  | BatchMessage
  | { readonly kind: "who" }
  | { readonly kind: "freed"; readonly text: string }
  | { readonly kind: "error"; readonly text: string };

export interface MessageToKernel {
  readonly kind: "opened" | "present" | "closed" | "stop" | "free";
}

/** The rows of a tier in the order of the buffer: the time in ms, then the values. */
export function readRows(buffer: DataView | undefined, rows: number): Float64Array[] {
  if (buffer === undefined || rows === 0) return [];
  // A buffer of a message may begin at an address that is not a multiple of eight.
  const bytes = buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength);
  const values = new Float64Array(bytes as ArrayBuffer);
  const width = values.length / rows;
  return Array.from({ length: rows }, (_, row) => values.slice(row * width, (row + 1) * width));
}
